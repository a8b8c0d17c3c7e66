// The only file that loads the addon: the data plane as the control plane sees it.
// Everything here is called on the control thread; nothing blocks longer than a few milliseconds.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageRoot } from './base/package-root.js';
import type { ListenerStatus } from './base/listener-status.js';
import type { HotRestartAddon, PassedSocket } from './native-hot-restart.js';
import type { ExportedStats, Page, StatsAddon } from './native-stats.js';

/** What could not be applied, and why; the rest of the update took effect. */
export interface ApplyError {
  readonly kind:
    | 'jwks'
    | 'plan'
    | 'cluster'
    | 'assignment'
    | 'route_table'
    | 'listener'
    /** It was taken, could not listen, and has gone with what it replaced. */
    | 'dropped_listener'
    | 'filter'
    | 'tap'
    | 'tls'
    | 'worker';
  /** The name of the object; empty for `plan` (the bytes themselves are wrong, or nothing is applied). */
  readonly name: string;
  readonly message: string;
}

/** What requests wait for. */
export interface RequestDemand {
  /** As the plan's Demand has it. */
  readonly kind: number;
  /** Of a cluster: where to ask, by a number of the plan. */
  readonly source: number;
  readonly name: string;
}
/** What workers ask for: see `onAsk`. */
export const ASK_JWKS = 0;

/** Which listeners: those with `traffic_direction: INBOUND`, or every one. */
export type DrainScope = 'inbound' | 'all';
export type DrainStrategy = 'gradual' | 'immediate';

export interface NativeOptions {
  /** Worker threads, at least 1. */
  readonly concurrency: number;
  /** Milliseconds between two writes of an access log that is not full. */
  readonly fileFlushIntervalMs: number;
  /** How much of an access log a worker may hold; 64 KiB unless given. */
  readonly logFlushBytes?: number | undefined;
  /** Counts waits for locks (`contention`): of all proxies in this process, until it ends. */
  readonly tracesLocks: boolean;
  /** A `StatsSettings` (src/plan). */
  readonly stats: Uint8Array;
}

export interface Contention {
  readonly count: bigint;
  readonly lastWaitCycles: bigint;
  readonly totalWaitCycles: bigint;
}

/** The data plane: worker threads, listeners, clusters, statistics. */
export interface NativeProxy extends StatsAddon {
  /**
   * Applies an `Update` (src/plan). Listeners bind here, so that errors are known at once. Refused
   * from shutdown() on.
   */
  apply(update: Uint8Array): readonly ApplyError[];
  /** Starts the worker threads: from here on connections are accepted. */
  start(): readonly ApplyError[];
  /** Listeners in order of addition, with the addresses they are bound to. */
  listeners(): readonly ListenerStatus[];
  /** A listener waits for what it needs: it is counted now, and not when it is put in place. */
  announceListener(name: string, isInPlace: boolean): void;
  /** Nothing comes of that; `isRemoved`: nor is there to be any of its name. */
  takeAnnouncementBack(name: string, isRemoved: boolean): void;
  /**
   * From here on answers ask their clients to close: all of them at once, or gradually more within
   * `seconds`. Listeners go on listening; TCP sessions and idle connections are left alone. Cannot be
   * taken back but by cancelDrain; of two drains the sooner counts. src/lifecycle/drain.ts calls it.
   */
  startDrain(scope: DrainScope, seconds: number, strategy: DrainStrategy): void;
  /** Takes what startDrain began back. */
  cancelDrain(): void;
  /**
   * Closes listen sockets, once; open connections go on, and the listeners stay listed. Listeners of
   * the scope that are applied later are left out.
   */
  stopListening(scope: DrainScope): void;
  /**
   * Resolves once each host that is to be checked has been checked, and clusters of such hosts are in
   * their places, or the proxy ends.
   */
  awaitChecks(): Promise<void>;
  /**
   * Of a cluster that awaits its place and has all else that it needs: resolves after so many checks as
   * it has hosts that are to be checked, or when it is gone, or the proxy ends. `withEarlier`: of all
   * checks since it has its hosts, not only of those that end from here on.
   */
  awaitRound(cluster: string, withEarlier: boolean): Promise<void>;
  /** While it fails, every answer asks its client to close, and health checks are answered with 503. */
  setHealthCheckFailed(failed: boolean): void;
  /**
   * From here on `callback` gets what taps record: the filter's number, the request's, and an
   * envoy.data.tap.v3.TraceWrapper. What piles up faster than it is taken is thrown away.
   */
  onTrace(callback: (tap: number, trace: bigint, bytes: Buffer) => void): void;
  /** From here on `callback` is called when workers have told of spans. Once. */
  onSpans(callback: () => void): void;
  /** Those since the last call, as src/tracing/span-record.ts reads them. */
  takeSpans(): Buffer;
  /** How many were lost since the beginning, because nobody took them in time. */
  droppedSpans(): number;
  /** From here on `callback` gets names that are to be looked up, each once, by their caches. */
  onName(callback: (cache: string, name: string) => void): void;
  /** Milliseconds since anybody asked for a name that was told of; 0: it is not known. */
  nameAge(cache: string, name: string): number;
  /**
   * From here on `callback` gets what access logs have gathered for services: a service's number, how
   * many entries, and the entries. What piles up faster than it is taken is thrown away.
   */
  onLogEntries(callback: (service: number, count: bigint, entries: Buffer) => void): void;
  /** What workers hold for that service comes soon. */
  flushLogService(service: number): void;
  /** Nothing more comes for that service, until it may again. */
  blockLogService(service: number, isBlocked: boolean): void;
  /**
   * From here on `callback` gets what workers ask of the control plane: what (`ASK_JWKS` …), whose it is,
   * and the rest.
   */
  onAsk(callback: (what: number, id: number, bytes: Buffer) => void): void;
  /** Ends connections and threads, and writes what logs hold. Resolves when it is done. */
  shutdown(): Promise<void>;
  /** Opens access logs anew, as after a rotation. */
  reopenLogs(): void;
  /** How its statistics begin: "cluster.<name>."; undefined where there is no such cluster. */
  clusterPrefix(cluster: string): string | undefined;
  /** The host whose turn it is; undefined where none may be used, which is counted. */
  chooseHost(cluster: string): ControlHost | undefined;
  /** Counts on a host what the control plane does there; `amount` may be negative. */
  hostAdd(
    cluster: string,
    address: string,
    port: number,
    counter: HostCounter,
    amount: number,
  ): void;
  /** Counts an answer of a cluster, by its status, that the control plane asks for again. */
  countRetried(cluster: string, status: number): void;
  /**
   * Counts an answer that the control plane got of a cluster: by its status, and by what `address` and
   * `port` say of the host, where one has answered or broken off. `isCanary`: it says so itself.
   */
  countAnswer(
    cluster: string,
    status: number,
    address?: string,
    port?: number,
    isCanary?: boolean,
  ): void;
  /** How long the host took for one. */
  recordAnswerTime(
    cluster: string,
    ms: number,
    address: string,
    port: number,
    isCanary: boolean,
  ): void;
  /**
   * Takes one of the budget, which returnBudget() gives back. Whether one was left: if not, one is
   * taken only with `beyond`.
   */
  takeBudget(cluster: string, budget: ClusterBudget, beyond: boolean): boolean;
  returnBudget(cluster: string, budget: ClusterBudget): void;
  /** From here on there is `cluster.<name>.http2.`. */
  addHttp2Stats(cluster: string): void;
  /** From here on there are statistics that begin so: "<owner>grpc.<prefix>."; `owner`: "sds.a.", or empty. */
  addGoogleGrpcStats(statPrefix: string, owner: string): string;
  /** From here on there are statistics that begin so: "tracing.<kind>.". */
  addTracerStats(kind: 'zipkin' | 'opentelemetry' | 'datadog' | 'skywalking'): string;
  /** From here on there are statistics that begin so: "cluster_manager.cds.". */
  addCdsStats(): string;
  /** From here on there are statistics that begin so: "listener_manager.lds.". */
  addLdsStats(): string;
  /** From here on there are statistics that begin so: "http.<prefix>.rds.<name>.". */
  addRdsStats(httpPrefix: string, routeConfiguration: string): string;
  /** From here on there are statistics that begin so: "sds.<name>.". */
  addSdsStats(secret: string): string;
  /** From here on there are statistics that begin so: "http.<prefix>.rds.vhds.<name>.", or "vhds.<name>.". */
  addVhdsStats(httpPrefix: string, routeConfiguration: string): string;
  /** From here on there are statistics that begin so: "http.<prefix>.scoped_rds.<name>.". */
  addScopedRdsStats(httpPrefix: string, name: string): string;
  /** From here on there are statistics that begin so: "extension_config_discovery.<kind>.<name>.". */
  addExtensionStats(kind: string, name: string): string;
  /** From here on there are statistics that begin so: "cluster.<cluster>.leds.". */
  addLedsStats(cluster: string): string;
  /** From here on there are statistics that begin so: "cluster_manager.odcds.". */
  addOdcdsStats(): string;
  /** Once: `tell` hears what requests wait for, until it is said that it is met. */
  onDemands(tell: (demands: readonly RequestDemand[]) => void): void;
  /**
   * From here on there are statistics that begin so: "<prefix>control_plane."; `prefix` is that of a
   * subscription whose own stream it is, or empty.
   */
  addControlPlaneStats(prefix: string): string;
  /**
   * False: a cluster that awaits its place takes it. Of one that has its place whether it waits for its
   * first hosts; of one that nobody is shown, whether whoever calls it waits for its name.
   */
  setWarming(cluster: string, isWarming: boolean): void;
  /** As setWarming() with false for each of them, of which workers hear at once. */
  endWaits(clusters: readonly string[]): void;
  /** From here on there are statistics that begin so: "runtime.". */
  addRtdsStats(): string;
  /** From here on there are statistics that begin so: "load_reporter.". */
  addLoadReporterStats(): string;
  /** From here on there are statistics that begin so: "hds_delegate.". */
  addHdsStats(): string;
  /** Statistics that one of the calls before has made are not needed any more. */
  removeStats(prefix: string): void;
  /** /clusters; `filter` is a compiled program searched in cluster names. */
  /** `services`: pairs in a row, a cluster and the name that its hosts have in EDS. */
  openClusters(
    format: 'text' | 'json',
    filter: Uint8Array | undefined,
    services: readonly string[],
  ): Page;
  /** One cluster's element of /clusters?format=json, as compact JSON; undefined: there is none. */
  clusterStatus(name: string): string | undefined;
  /**
   * For load reports, as JSON: how many requests were dropped since the cluster is there, of which category, and how
   * many others no host was asked for; where it is reported, what the hosts of that element have said of their
   * load since the last call, in its order. Undefined: there is no such cluster.
   */
  takeLoads(name: string): string | undefined;
  /** Waits for locks since they are traced, in cycles of the processor's clock. */
  contention(): Contention;
  /** From here on workers are sampled, every 10 ms of their CPU time; false: they do not run. */
  startCpuProfile(): boolean;
  /**
   * The samples since the previous call, one after the other: the worker, the number of addresses,
   * the addresses with the inner first. Read at least every ten seconds, or some are lost.
   */
  readCpuProfile(): Float64Array;
  /** The last samples; no more are taken. */
  stopCpuProfile(): Float64Array;
  /** Writes a line of each access log of the admin server; takes what encodeAdminRequest() gives. */
  logAdminRequest(request: Uint8Array): void;
  /** Of the admin server. False: there are as many connections as there may be, and it is not exempt. */
  addConnection(isExempt: boolean): boolean;
  removeConnection(): void;
  /** Bytes of malloc's: in use, taken from the system, and free within that. */
  memory(): { readonly allocated: number; readonly heapSize: number; readonly free: number };

  /** Sockets of the process before this one, for the listeners that are applied from here on. */
  inherit(sockets: readonly PassedSocket[]): void;
  /**
   * Closes the inherited sockets that no listener took; says which addresses were taken. Statistics
   * that were imported before are not sent to sinks again.
   */
  endInheritance(): readonly string[];
  /** All listen sockets; the descriptors are good until the listeners change. */
  listenSockets(): readonly PassedSocket[];
  /**
   * Listeners at these addresses leave new connections to another process; the others close. Resolves
   * when no worker accepts any more.
   */
  handOver(takenAddresses: readonly string[]): Promise<void>;
  /** Takes back what was handed over. Errors are of what cannot be bound again. */
  takeBack(): readonly ApplyError[];
  /** What changed since the last round, as a StatsBatch of about this size; all in the first round. */
  exportStats(maxBytes: number): ExportedStats;
  /**
   * The next round of exportStats is another successor's: it tells everything, unless that one knows
   * what was told of counters.
   */
  beginExport(knowsCounters: boolean): void;
  /** Throws when the batch is not understood. */
  importStats(batch: Uint8Array): void;
  /** The process whose statistics were imported is gone. */
  endImports(): void;
}

/** A host as the control plane connects to it; port 0: a pipe. */
export interface ControlHost {
  readonly address: string;
  readonly port: number;
}

/** What /clusters shows of a host. */
export type HostCounter =
  | 'cx_total'
  | 'cx_active'
  | 'cx_connect_fail'
  | 'rq_total'
  | 'rq_active'
  | 'rq_pending_active'
  | 'rq_success'
  | 'rq_error'
  | 'rq_timeout';

/** What circuit breakers count, at the default priority. */
export type ClusterBudget =
  'connections' | 'connection_pools' | 'pending_requests' | 'requests' | 'retries';

/** The process's log. Components and levels are their places in COMPONENTS and LEVELS. */
export interface NativeLog {
  readonly components: readonly string[];
  setLevel(component: number, level: number): void;
  /** Sends a line to the thread that writes; never waits. */
  write(
    component: number,
    level: number,
    file: string,
    line: number,
    functionName: string,
    message: string,
  ): void;
  /** In spdlog's language; lines sent before keep their form. */
  setPattern(pattern: string, escapes: boolean): void;
  /** Lines go there from now on; an empty path is stderr. Answers what is wrong, or nothing (''). */
  openFile(path: string): string;
  /** Opens the file anew, as after a rotation. */
  reopen(): void;
  /** Waits until all is written, at most so many milliseconds; whether it is. */
  flush(limitMs: number): boolean;
  /** Levels per source file from now on, all at this one. */
  setFileLevel(level: number): void;
  /** Levels of the files that a glob selects, in place of those that were set so before. */
  setFileRules(rules: readonly (readonly [glob: string, level: number])[]): void;
  /** The files that were reached, and their levels. */
  fileLevels(): readonly (readonly [path: string, level: number])[];
  /** Fatal signals let the log be written first. */
  installCrashHandlers(): void;
}

/** For setsockopt(2). */
export interface SocketOption {
  readonly level: number;
  readonly name: number;
  readonly value: Uint8Array;
  /** When it is set: 0 before binding, 1 once bound, 2 once the socket listens. */
  readonly state: 0 | 1 | 2;
}

export interface OpenedSocket {
  /** -1 after an error, and where an option could not be set before binding. */
  readonly fd: number;
  /** Where it listens: with the kernel's port if the address left it open. */
  readonly address: string;
  /** Why it is not there; empty: it is, or an option is why. */
  readonly error: string;
  /** Options that could not be set, by index. */
  readonly failures: readonly { readonly option: number; readonly why: string }[];
}

export interface Addon {
  readonly log: NativeLog;
  create(options: NativeOptions): NativeProxy;
  /**
   * Lets the kernel write a core dump of this process. Gives how large it may be in bytes, and 0
   * where there will be none; throws when the kernel refuses.
   */
  enableCoreDump(): number;
  /**
   * Opens a listen socket at "127.0.0.1:80", "[::1]:80" or a pipe's path (mode 0: as the process's
   * mask says). Its descriptor is the caller's.
   */
  openListenSocket(address: string, mode: number, options: readonly SocketOption[]): OpenedSocket;
  /**
   * Accepts connections on a socket that listens, whose descriptor it takes, until it is closed.
   * Descriptors of connections are the callback's: they never block. Addresses are as openListenSocket
   * says them.
   */
  acceptConnections(
    fd: number,
    onConnection: (fd: number, remoteAddress: string, localAddress: string) => void,
  ): Acceptor;
  /** What has come on a TCP connection so far, read or not. */
  receivedBytes(fd: number): number;
  /** Another descriptor of the same; throws where there is none left. */
  duplicateDescriptor(fd: number): number;
  /** What OpenSSL says is wrong with the contexts of TLS in an Update; undefined: it takes them. */
  checkTls(plan: Uint8Array): string | undefined;
  /** Whether Node, or the system, has the library of a content coding, both ways. */
  hasCoding(coding: 'brotli' | 'zstd'): boolean;
  readonly hotRestart: HotRestartAddon;
}

export interface Acceptor {
  /** Connections wait, for `resume` or for another process that has the socket. */
  pause(): void;
  resume(): void;
  /** The kernel resets connections that nobody has accepted yet. */
  close(): void;
  /** Accepts those first. */
  closeWhenAccepted(): void;
}

/** There is no addon, or none for this machine. */
export class AddonError extends Error {}

/** Loads the addon that the installation built. Throws an AddonError that says how to build it. */
export function loadAddon(): Addon {
  const path = join(packageRoot(), 'dist', 'fairlead.node');
  try {
    return createRequire(import.meta.url)(path) as Addon;
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    const how = `node '${join(packageRoot(), 'scripts', 'build-native.mjs')}'`;
    const hint = 'where npm passes over the scripts of packages the addon is to be built by hand';
    throw new AddonError(`the native addon cannot be loaded (${why}); ${hint}: ${how}`);
  }
}
