// A proxy from its start to its end, in order. Everything here is rare and on the control thread.
import { closeSync } from 'node:fs';
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_core_v3_Node as Node,
} from '../../build/messages.gen.js';
import type { AdminHost } from '../admin/host.js';
import { daysUntil, firstExpiryMs } from '../admin/handlers/certificates.js';
import { AdminServer } from '../admin/admin-server.js';
import type { InheritedSocket } from '../admin/http/listener.js';
import type { Options } from '../options/parse.js';
import { monotonicMs } from '../base/clock.js';
import { onBug, unawaited } from '../base/bugs.js';
import type { Epoch } from '../hot-restart/epoch.js';
import type { RestartHost } from '../hot-restart/host.js';
import { NO_HOT_RESTART } from '../hot-restart/version.js';
import type { Log } from '../logging/logger.js';
import { loadAddon, type Addon, type ApplyError, type NativeProxy } from '../native.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import { Runtime } from '../runtime/runtime.js';
import type { Tell } from '../service-manager.js';
import type { Configuration } from './configuration.js';
import type { OverloadManager } from '../overload/overload-manager.js';
import { HystrixStream } from '../stats/hystrix-stream.js';
import { wantsSamples } from '../stats/make-sinks.js';
import { ControlStats } from '../stats/control-stats.js';
import { Discovery } from './discovery.js';
import {
  beginsDrained,
  defaultConcurrency,
  enableCoreDump,
  hystrixOf,
  makeFedSinks,
  makeLogServices,
  makeNative,
  makeOverload,
  makeSpanExport,
  publishAddress,
  tellBug,
  warnOfNoLimit,
} from './parts.js';
import { showFirstFigures } from './first-figures.js';
import { describeRefusal } from './refusal.js';
import type { SpanExport } from './span-export.js';
import { Drain } from '../lifecycle/drain.js';
import { listenAtLast } from './listen-at-last.js';
import { StartError } from './start-error.js';
import type { ServerState } from '../lifecycle/state.js';
import { StatsFlush } from './stats-flush.js';
import type { LogServices } from '../log-services/log-services.js';
import { Taps } from '../taps/taps.js';
import { startInterval } from '../base/timers.js';
import { describeDrop } from '../xds/listener-round.js';
import type { Xds } from '../xds/xds.js';

export interface ServerOptions {
  readonly options: Options;
  readonly configuration: Configuration;
  readonly log: Log;
  /** Absent: the one that was built with the package. */
  readonly addon?: Omit<Addon, 'hotRestart'>;
  /** Absent: nobody manages this process. */
  readonly tellManager?: Tell | undefined;
  /** Absent: there are no hot restarts. Whoever made it closes it. */
  readonly epoch?: Epoch;
}

/** For how long a parent that was killed may keep the admin address. */
const ENDING_MS = 1000;

export class Server implements AdminHost, RestartHost {
  readonly options: Options;
  readonly log: Log;
  readonly bootstrap: Bootstrap;
  readonly node: Node;
  readonly concurrency: number;
  readonly native: NativeProxy;
  readonly sockets: AdminHost['sockets'];
  readonly stats: ControlStats;
  readonly runtime: Runtime;
  readonly drain: Drain;
  readonly taps: Taps;
  readonly flushesOnAdmin: boolean;
  readonly droppedListeners = new Set<string>();
  /** Absent: there is no such sink. */
  readonly hystrix: HystrixStream | undefined;
  /** Resolves when somebody asks the server to end (POST /quitquitquit). */
  readonly quitAsked: Promise<void>;
  readonly quit: () => void;
  readonly #epoch: Epoch | undefined;
  readonly #configuration: Configuration;
  readonly #tellManager: Tell;
  readonly #startedMs = monotonicMs();
  readonly #flush: StatsFlush;
  /** Serves already; others may be told of it yet, and sinks made. */
  #goingLive: Promise<void> = Promise.resolve();
  readonly #discovery: Discovery;
  readonly #logServices: LogServices;
  #overload: OverloadManager | undefined;
  /** Absent: the system gets memory back when it is due. */
  #memoryTimer: NodeJS.Timeout | undefined;
  /** Workers are nothing that Node would wait for. */
  #staysAlive: NodeJS.Timeout | undefined;
  #admin: AdminServer | undefined;
  #inheritedAdmin: InheritedSocket | undefined;
  #configuredMs = Date.now();
  #state: ServerState = 'PRE_INITIALIZING';
  #isHealthy = true;
  #isServing = false;
  #drainsForSuccessor = false;
  #spanExport: SpanExport | undefined;
  #ending: Promise<void> | undefined;
  readonly #stopListeningForBugs: () => void;

  constructor(made: ServerOptions) {
    const { options, configuration, log, addon = loadAddon() } = made;
    this.#tellManager = made.tellManager ?? (() => undefined);
    this.#epoch = made.epoch;
    this.options = options;
    this.log = log;
    this.bootstrap = configuration.bootstrap;
    this.node = configuration.bootstrap.node ?? {};
    this.concurrency = Math.max(1, options.concurrency ?? defaultConcurrency(options));
    this.flushesOnAdmin = configuration.settings.statsFlushIntervalMs === undefined;
    this.#configuration = configuration;
    this.sockets = addon;
    if (options.enableCoreDump) enableCoreDump(addon, log);
    if (configuration.settings.logFormat !== undefined) {
      log.setPattern(configuration.settings.logFormat);
    }
    this.native = makeNative(addon, options, configuration, this.concurrency);
    this.stats = new ControlStats(this.native);
    this.drain = new Drain(this.native, {
      // Read as 32 bits, as the real server does with a negative number.
      seconds: options.drainTimeS >>> 0,
      strategy: options.drainStrategy === 'immediate' ? 'immediate' : 'gradual',
    });
    const { taps, lds } = configuration.compiled;
    const onTapError = (message: string): void => log.error('tap', message);
    this.taps = new Taps(this.native, taps, onTapError, lds !== undefined);
    this.#logServices = makeLogServices(configuration, this);
    this.runtime = new Runtime(configuration.runtimeSource, configuration.runtime, {
      stats: this.stats,
      reads: configuration.compiled.runtimeReads,
      setSlots: (values) => this.native.apply(encodeUpdate({ runtime_values: values })),
      setClusters: (runtimes) => this.native.apply(encodeUpdate({ cluster_runtimes: runtimes })),
      setFaults: (runtimes) => this.native.apply(encodeUpdate({ fault_runtimes: runtimes })),
      log: (level, message) => log.write(level, 'runtime', message),
    });
    this.#flush = new StatsFlush({
      native: this.native,
      stats: this.stats,
      state: () => this.state(),
      uptimeOfAllEpochsMs: () => this.uptimeOfAllEpochsMs(),
      pullParentStats: () => this.pullParentStats(),
      daysUntilFirstExpiry: () => {
        const expiryMs = firstExpiryMs(this.tlsContexts);
        return expiryMs && daysUntil(expiryMs, Date.now());
      },
      parentConnections: () => this.#epoch?.parentConnections,
      warn: (message) => log.warn('stats_sinks', message),
    });
    this.#discovery = new Discovery(configuration.compiled, this);
    this.hystrix = hystrixOf(configuration) && new HystrixStream(this.native);
    this.#stopListeningForBugs = onBug((where, thrown) => tellBug(where, thrown, this));
    let ask = (): void => undefined;
    this.quitAsked = new Promise((resolve) => (ask = resolve));
    this.quit = ask;
  }

  get tlsContexts(): AdminHost['tlsContexts'] {
    const { tls, listenerTls } = this.#configuration.compiled;
    const sockets = [...tls.map(({ socket }) => socket), ...listenerTls];
    return this.xds?.tlsFiles() ?? sockets.map(({ files }) => files);
  }

  get madeClusters(): AdminHost['madeClusters'] {
    return this.#discovery.madeClusters;
  }

  /** Undefined: the bootstrap has all there is. */
  get xds(): Xds | undefined {
    return this.#discovery.xds;
  }

  onClustersReady(): void {
    this.#state = 'INITIALIZING';
  }

  state(): ServerState {
    return this.#isHealthy || this.#state !== 'LIVE' ? this.#state : 'DRAINING';
  }

  get configuredMs(): number {
    return this.#configuredMs;
  }

  uptimeMs(): number {
    return monotonicMs() - this.#startedMs;
  }

  /** Since epoch 0 started. */
  uptimeOfAllEpochsMs(): number {
    return this.#epoch ? Date.now() - this.#epoch.originalStartMs : this.uptimeMs();
  }

  get hotRestartVersion(): string {
    return this.#epoch?.version ?? NO_HOT_RESTART;
  }

  get isHotRestartInitializing(): boolean {
    return this.#epoch?.isInitializing ?? false;
  }

  /** "127.0.0.1:9901"; undefined without an admin server. */
  get adminAddress(): string | undefined {
    return this.#admin?.address;
  }

  /** Resolves when the server is LIVE, or was ended before; rejects with a StartError. */
  async start(): Promise<void> {
    this.#staysAlive = startInterval(() => undefined, Infinity);
    const { restartEpoch, baseId } = this.options;
    this.log.info(
      'main',
      `initializing epoch ${restartEpoch} (base id=${this.#epoch?.baseId ?? baseId}, ` +
        `hot restart version=${this.hotRestartVersion})`,
    );
    await this.#epoch?.attach(this);
    if (this.#ending) return;
    this.#applyConfiguration();
    this.#makeOverload();
    this.#spanExport = makeSpanExport(this.#configuration, this);
    this.runtime.start();
    await this.#startAdmin();
    // What was opened only now was not there to be closed.
    if (this.isEnding) return this.#admin?.close();
    await this.#discovery.start();
    if (this.#ending) return;
    this.#spanExport.start();
    warnOfNoLimit(this.#configuration, this.log);
    this.log.info('config', 'all dependencies initialized. starting workers');
    this.#startNative();
    this.#overload?.start();
    this.#releaseMemory();
    this.#state = 'LIVE';
    this.#goingLive = this.#goLive();
    await this.#goingLive;
    if (this.#ending) return;
    this.#isServing = true;
    this.log.info('main', 'starting main dispatch loop');
    const status = `serving, epoch ${this.options.restartEpoch}`;
    // A successor that a reload has started becomes the service's main process.
    this.#tellManager('READY=1', `MAINPID=${process.pid}`, `STATUS=${status}`);
  }

  async #goLive(): Promise<void> {
    await this.#epoch?.live(this);
    this.stats.record('server.initialization_time_ms', Math.round(this.uptimeMs()));
    this.#flush.writeGauges();
    await this.#startFlush();
  }

  /** As the real server, it goes on without listeners that cannot listen. */
  #startNative(): void {
    const isDropped = ({ kind }: ApplyError): boolean => kind === 'dropped_listener';
    const errors = this.native.start();
    for (const error of errors.filter(isDropped)) {
      this.log.error('config', describeDrop(error));
      if (!this.xds?.dropListener(error.name)) this.droppedListeners.add(error.name);
    }
    const fatal = errors.filter((error) => !isDropped(error));
    if (fatal.length > 0) throw new StartError(fatal.map(describeRefusal).join('\n'));
  }

  /** Ends connections, writes what logs hold, frees the ports. May be called more than once. */
  stop(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  /** Whether this proxy answers that it is well; while it does not, it asks its clients to leave. */
  setHealthy(healthy: boolean): void {
    this.#isHealthy = healthy;
    this.native.setHealthCheckFailed(!healthy);
    this.stats.setGauge('server.live', healthy ? 1 : 0);
  }

  flushStats(): void {
    this.#flush.flush();
  }

  reopenLogs(): void {
    this.native.reopenLogs();
    this.log.reopen();
  }

  // ---- hot restart ----

  async pullParentStats(): Promise<void> {
    await this.#epoch?.pullStats();
  }

  /** LIVE, and not asked to end. */
  get isServing(): boolean {
    return this.#isServing && !this.isEnding;
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  connectionCount(): number {
    return this.#flush.connectionCount();
  }

  /** The successor reports from here on what is counted. */
  suspendAdmin(): InheritedSocket | undefined {
    // Sinks get all of it now, and the rest from the successor.
    unawaited('the last flush of statistics', this.#flush.stop());
    return this.#admin?.suspend();
  }

  inheritAdmin(socket: InheritedSocket): void {
    // Where one predecessor dies another may have one as well; or there is an admin server already.
    const unwanted = this.#admin ? socket : this.#inheritedAdmin;
    if (unwanted) closeSync(unwanted.fd);
    if (!this.#admin) this.#inheritedAdmin = socket;
  }

  async resumeAdmin(): Promise<void> {
    if (this.#ending) return;
    try {
      await this.#startFlush();
      await this.#admin?.resume();
    } catch (error) {
      this.log.error('admin', (error as Error).message);
    }
  }

  get isSucceeded(): boolean {
    return this.#drainsForSuccessor;
  }

  drainForSuccessor(): void {
    this.#admin?.letGo();
    if (this.drain.start('all')) this.#drainsForSuccessor = true;
    this.#tellManager('STATUS=draining for a successor');
  }

  endDrain(): void {
    if (this.#drainsForSuccessor) this.drain.cancel();
    this.#drainsForSuccessor = false;
    this.#discovery.xds?.refreshListeners();
    this.#tellManager('READY=1', `STATUS=serving again, epoch ${this.options.restartEpoch}`);
  }

  /** Listeners are bound afterwards, so that a port that is taken is known at once. */
  #applyConfiguration(): void {
    const errors = this.native.apply(encodeUpdate(this.#configuration.firstUpdate.take()));
    for (const { kind, name, message } of errors) {
      if (kind !== 'listener' || !message.startsWith('cannot bind ')) continue;
      this.log.error(
        'config',
        `listener '${name}' failed to bind or apply socket options: ${message}`,
      );
    }
    if (errors.length > 0) throw new StartError(errors.map(describeRefusal).join('\n'));
    this.#configuredMs = Date.now();
    showFirstFigures(this.#configuration, this, this.#epoch);
    if (beginsDrained(this.bootstrap.flags_path, this.log)) this.setHealthy(false);
  }

  /** Its statistics are there before the first page can show them. */
  #makeOverload(): void {
    const { overload } = this.#configuration.compiled;
    if (!overload) return;
    this.#overload = makeOverload(overload, this);
  }

  /** As memory_allocator_manager wants it. */
  #releaseMemory(): void {
    const everyMs = this.#configuration.compiled.memoryReleaseMs;
    if (everyMs === 0) return;
    this.#memoryTimer = startInterval(() => {
      this.native.apply(encodeUpdate({ shrink_heap: true }));
    }, everyMs);
  }

  async #startAdmin(): Promise<void> {
    const plan = this.#configuration.compiled.admin;
    const inherited = this.#inheritedAdmin;
    this.#inheritedAdmin = undefined;
    if (!plan) {
      if (inherited) closeSync(inherited.fd);
      this.log.info('main', 'there is no admin server: the bootstrap has no admin address');
      return;
    }
    const admin = new AdminServer(this, plan);
    this.#admin = admin;
    const graceMs = this.#epoch?.hasLostParent ? ENDING_MS : 0;
    try {
      await listenAtLast(() => admin.listen(inherited), graceMs);
    } catch (error) {
      throw new StartError(`admin server: ${(error as Error).message}`);
    }
    this.log.info('admin', `admin address: ${this.#admin.address}`);
    const path = this.options.adminAddressPath;
    if (path !== '') publishAddress(this.#admin.address, path, this.log);
  }

  async #startFlush(): Promise<void> {
    const { settings, compiled } = this.#configuration;
    const sinks = await makeFedSinks(compiled, this);
    this.#flush.start(settings.statsFlushIntervalMs, {
      sinks,
      wantsSamples: wantsSamples(compiled.sinks),
      onFlush: this.hystrix && (() => this.hystrix?.flush()),
    });
  }

  async #end(): Promise<void> {
    this.log.info('main', 'shutting down server instance');
    this.#tellManager('STOPPING=1', 'STATUS=ending connections');
    this.drain.dispose();
    this.runtime.stop();
    this.#overload?.stop();
    clearInterval(this.#memoryTimer);
    this.#discovery.stop();
    this.#logServices.close();
    this.#admin?.close();
    await this.#epoch?.beginEnd();
    // Whoever gets an answer from now on asks nothing more on the same connection.
    this.native.startDrain('all', 0, 'immediate');
    await Promise.all([this.#epoch?.eldersEnded(), this.native.shutdown()]);
    this.log.info('main', 'main dispatch loop exited');
    await this.#spanExport?.close();
    // Who is told to end at once may not have its sinks yet.
    await this.#goingLive.catch(() => undefined);
    // With all that was counted to the end, here and before.
    await this.#flush.stop();
    await this.#epoch?.connectionsEnded();
    clearInterval(this.#staysAlive);
    this.#stopListeningForBugs();
    this.log.info('main', 'exiting');
  }
}
