// What the admin endpoints see of the server that they belong to.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_core_v3_Node as Node,
} from '../../build/messages.gen.js';
import type { Options } from '../options/parse.js';
import type { TlsFiles } from '../plan/tls-socket.js';
import type { Log } from '../logging/logger.js';
import type { Addon, NativeProxy } from '../native.js';
import type { ControlStats } from '../stats/control-stats.js';
import type { Drain } from '../lifecycle/drain.js';
import type { Runtime } from '../runtime/runtime.js';
import type { HystrixStream } from '../stats/hystrix-stream.js';
import type { ServerState } from '../lifecycle/state.js';
import type { Taps } from '../taps/taps.js';
import type { DynamicCluster } from '../xds/clusters.js';
import type { Xds } from '../xds/xds.js';

export interface AdminHost {
  readonly options: Options;
  readonly bootstrap: Bootstrap;
  /** When the bootstrap was applied: milliseconds since 1970. */
  readonly configuredMs: number;
  /** The bootstrap's. */
  readonly node: Node;
  readonly concurrency: number;
  readonly native: NativeProxy;
  readonly sockets: Pick<
    Addon,
    'openListenSocket' | 'acceptConnections' | 'receivedBytes' | 'duplicateDescriptor'
  >;
  readonly stats: ControlStats;
  readonly runtime: Runtime;
  readonly drain: Drain;
  readonly taps: Taps;
  readonly log: Log;
  /** Resources that are not in the bootstrap; undefined: it has all there is. */
  readonly xds:
    | Pick<
        Xds,
        | 'routes'
        | 'writtenRoutes'
        | 'endpointsOf'
        | 'clusters'
        | 'serviceNames'
        | 'isWarming'
        | 'replaced'
        | 'unready'
        | 'listeners'
        | 'secrets'
        | 'scopes'
        | 'extensions'
        | 'kindsOfExtensions'
      >
    | undefined;
  /** Names of static listeners that could not listen. */
  readonly droppedListeners: ReadonlySet<string>;
  /** Clusters of names that requests have asked for. */
  readonly madeClusters: Iterable<DynamicCluster>;
  /** Statistics are merged when they are asked for, not on a timer. */
  readonly flushesOnAdmin: boolean;
  /** Of clusters and listeners. */
  readonly tlsContexts: readonly TlsFiles[];
  /** Absent: there is no such sink. */
  readonly hystrix: HystrixStream | undefined;
  state(): ServerState;
  uptimeMs(): number;
  /** Since epoch 0 started. */
  uptimeOfAllEpochsMs(): number;
  /** 'disabled' where there are no hot restarts. */
  readonly hotRestartVersion: string;
  readonly isHotRestartInitializing: boolean;
  setHealthy(healthy: boolean): void;
  flushStats(): void;
  reopenLogs(): void;
  /** Asks the server to end. */
  quit(): void;
}
