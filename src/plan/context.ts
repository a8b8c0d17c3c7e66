// What every compile function may look at besides its own message.
import type { Registry } from '../extensions/registry.js';
import type { TapDeclaration } from '../taps/taps.js';
import type { GrpcClusterPlan } from './service-plan.js';
import type { Place } from './message/place.js';
import type { RouteTable } from './plan.gen.js';
import type { RuntimeReads } from './runtime/runtime-reads.js';

/** What a cluster's hosts expect, which only the control plane speaks yet. */
export interface ControlOnly {
  readonly protocol: 'HTTP/2' | 'TLS';
  /** Where the configuration says so. */
  readonly place: Place;
}

export interface CompileContext {
  /** The node's cluster: --service-cluster, or else of the bootstrap. */
  readonly serviceCluster: string;
  /** The node's id: --service-node, or else of the bootstrap. */
  readonly serviceNode: string;
  /** The node has an id and a cluster, as some extensions demand. */
  readonly hasNode: boolean;
  /** This machine's address as clients on loopback are called (--local-address-ip-version). */
  readonly localAddress: string;
  /** Names of all clusters that are known when routes are read. */
  readonly clusterNames: ReadonlySet<string>;
  /** Clusters as gRPC services reach them, by name; filled before anything else is read. */
  readonly grpcClusters: Map<string, GrpcClusterPlan>;
  /** Those of them that nothing but the control plane can reach yet. */
  readonly controlOnlyClusters: Map<string, ControlOnly>;
  readonly runtime: RuntimeReads;
  readonly extensions: Registry;
  /** Takes a route table and gives the name under which the plan has it. */
  addRouteTable(table: RouteTable): string;
  /** Takes a tap and gives the number under which the plan has it. */
  addTap(tap: TapDeclaration): number;
}
