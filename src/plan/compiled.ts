// What a bootstrap becomes, and what it is compiled with: types only.
import type { envoy_config_cluster_v3_Cluster as Cluster } from '../../build/messages.gen.js';
import type { Issue } from '../config/issues/issue.js';
import type { AdminPlan } from './bootstrap/admin.js';
import type { OverloadPlan } from './bootstrap/overload.js';
import type { CdsPlan } from './cluster/cds-plan.js';
import type { ClusterPlan, NamedClusterPlan } from './cluster/cluster-plan.js';
import type { DnsClusterPlan } from './cluster/dns-cluster.js';
import type { EdsPlan } from './cluster/eds-cluster.js';
import type { HiddenClusterPlans } from './cluster/hidden-clusters.js';
import type { NamePlans } from './cluster/names.js';
import type { BootstrapPlaces, DiscoveredPlace } from './discovered.js';
import type { CompileContext, Registry } from './extension.js';
import type { SinkPlan } from './extension-plans.js';
import type { JwksSources } from './jwks-source.js';
import type { LdsPlan } from './listener/lds-plan.js';
import type { LogServices } from './log-service.js';
import type { TapDeclaration } from './match/tap.js';
import type { Place } from './message/place.js';
import type { TlsContext, Update } from './plan.gen.js';
import type { RouteSlots } from './route-slots.js';
import type { RtdsPlan } from './rtds.js';
import type { RuntimeReads } from './runtime/runtime-reads.js';
import type { RuntimeValues } from './runtime/runtime.js';
import type { StreamPlan } from './sources.js';
import type { ClusterSocket, TlsSocketPlan } from './tls-socket.js';

export interface CompileOptions {
  /** --service-cluster; empty: the bootstrap's node. */
  readonly serviceCluster: string;
  readonly serviceNode: string;
  /** --service-zone; empty: the bootstrap's node. */
  readonly serviceZone?: string;
  /** What a client on loopback is called. */
  readonly localAddress: string;
  /** Of all layers, as they are now. */
  readonly runtime: RuntimeValues;
  /** Those that there are; a disabled one is marked so. */
  readonly extensions: Registry;
  /** What OpenSSL says is wrong with a context of TLS; absent: nobody asks it. */
  readonly checkTls?: (context: TlsContext) => string | undefined;
  /** Whether a library of content codings is there; absent: nobody asks. */
  readonly hasCoding?: (coding: 'brotli' | 'zstd') => boolean;
}

/** What is compiled later can ask which route configurations are wanted. */
export type LaterContext = CompileContext & {
  readonly routes: RouteSlots;
  readonly names: NamePlans;
  readonly hiddenClusters: HiddenClusterPlans;
  readonly discovered: BootstrapPlaces;
};

export interface CompiledBootstrap {
  /** Memory that nobody uses goes back to the system so often; 0: never. */
  readonly memoryReleaseMs: number;
  /** All static resources; clusters of `dnsClusters` and `eds` get their assignments later. */
  readonly update: Update;
  readonly dnsClusters: readonly DnsClusterPlan[];
  /** Of services without a cluster of the configuration: nobody waits for them. */
  readonly hiddenDns: readonly DnsClusterPlan[];
  readonly eds: readonly EdsPlan[];
  /** Clusters whose hosts are those that requests name. */
  readonly named: readonly NamedClusterPlan[];
  /** Absent: no cluster comes later. */
  readonly cds?: CdsPlan;
  /** Absent: no listener comes later. */
  readonly lds?: LdsPlan;
  /** For what comes later. */
  readonly context: LaterContext;
  /** By the numbers that the update has for them. */
  readonly taps: readonly TapDeclaration[];
  readonly logServices: LogServices;
  /** Where keys are fetched from, by the numbers that the update has for them. */
  readonly jwks: JwksSources;
  /** Absent: nothing is shed. */
  readonly overload?: OverloadPlan;
  /** Absent: no admin server. */
  readonly admin?: AdminPlan;
  /** What was read of the runtime. */
  readonly runtimeReads: RuntimeReads;
  readonly sinks: readonly SinkPlan[];
  /** Of clusters, in their order. */
  readonly tls: readonly ClusterSocket[];
  /** The same of listeners. */
  readonly listenerTls: readonly TlsSocketPlan[];
  /** As a static cluster is compiled. */
  readonly compileClusterLater: CdsPlan['compile'];
  /** Filters that come later, of listeners of the bootstrap. */
  readonly discovered: readonly DiscoveredPlace[];
  readonly issues: readonly Issue[];
  /** What is wrong with control planes that only a start asks: `--mode validate` lets it pass. */
  readonly startIssues: readonly Issue[];
  /** Absent: there is no aggregated stream. */
  readonly ads?: StreamPlan;
  /** The aggregated streams of authorities, in the order of the bootstrap. */
  readonly authorities: readonly StreamPlan[];
  /** Who hears what clusters have to do; absent: nobody. */
  readonly loadReports?: StreamPlan;
  /** Who says what else is to be checked; absent: nobody. */
  readonly healthDiscovery?: HealthDiscoveryPlan;
  /** Layers of the runtime that come by RTDS, in their order. */
  readonly rtds: readonly RtdsPlan[];
}

export interface HealthDiscoveryPlan {
  readonly stream: StreamPlan;
  /** A cluster whose hosts are to be checked. Undefined after an error. */
  readonly compile: (message: Cluster, place: Place) => ClusterPlan | undefined;
}

/** What is still asked for once the workers have the update. */
export type CompiledRest = Omit<CompiledBootstrap, 'update'>;
