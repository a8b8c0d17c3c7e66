// What becomes of a cluster's configuration: its plan, and where its hosts come from. Types only.
import type { envoy_config_cluster_v3_Cluster as ClusterMessage } from '../../../build/messages.gen.js';
import type { Assignment, Cluster, DestinationHosts, NameCache } from '../plan.gen.js';
import type { DiscoveredPlace } from '../discovered.js';
import type { HeldSecret } from '../live-sources.js';
import type { TlsSocketPlan } from '../tls-socket.js';
import type { DnsClusterPlan, LookupFamily } from './dns-cluster.js';
import type { ResolverPlan } from '../dns-resolver.js';
import type { EdsPlan } from './eds-cluster.js';
import type { GrpcClusterPlan } from '../service-plan.js';

/** A cluster with its hosts, or with where they are to be asked for. */
export interface ClusterPlan {
  readonly cluster: Cluster;
  /** As connections of the control plane see it. */
  readonly control: GrpcClusterPlan;
  readonly assignment?: Assignment;
  readonly dns?: DnsClusterPlan;
  readonly eds?: EdsPlan;
  /** Its hosts have names. */
  readonly names?: NamedClusterPlan;
  /** Its hosts are made as they are asked for. */
  readonly destinations?: DestinationHosts;
  /** How its hosts are reached, where not in the clear. */
  readonly sockets: readonly TlsSocketPlan[];
  /** Filters of its tries that come later; absent: of the bootstrap, which has them with all others. */
  readonly discovered?: readonly DiscoveredPlace[];
  /** Of its filters; absent: of the bootstrap, which stays. */
  readonly secrets?: readonly HeldSecret[];
}

/** A host that is asked for by its name. */
export interface AskedName {
  readonly host: string;
  readonly port: number;
}

/** What is known of hosts, by name. */
export interface HostNamesPlan {
  readonly cache: NameCache;
  readonly lookup: LookupFamily;
  readonly refreshMs: number;
  /** No sooner than this, whatever an answer says of its time. */
  readonly minRefreshMs: number;
  /** How soon a failed query is repeated; absent: like any other. */
  readonly failureRefresh?: { readonly baseMs: number; readonly maxMs: number };
  /** A failed query is not repeated before a request asks again. */
  readonly forgetsFailures: boolean;
  /** A name that nobody asks for is forgotten. */
  readonly ttlMs: number;
  /** Absent: the system's. */
  readonly resolver?: ResolverPlan;
  /** 0: an answer may take as long as it likes. */
  readonly queryTimeoutMs: number;
  /** Looked up before anybody asks. */
  readonly atOnce: readonly AskedName[];
}

/** Names that are clusters of their own. */
export interface ClusterNamesPlan {
  readonly cache: NameCache;
  readonly ttlMs: number;
  readonly atOnce: readonly AskedName[];
  /** The cluster of a name. Undefined where its configuration says something wrong. */
  readonly compile: (name: AskedName) => NamedCluster | undefined;
}

export interface NamedCluster {
  readonly plan: ClusterPlan;
  /** What /config_dump shows of it. */
  readonly message: ClusterMessage;
}

/** What a cluster does with names. */
export type NamedClusterPlan =
  | { readonly kind: 'hosts'; readonly cluster: string; readonly cache: string }
  | { readonly kind: 'clusters'; readonly cluster: string; readonly clusters: ClusterNamesPlan };
