// The order of a start and of an end. Everything that is rare happens here, on the control thread.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { AdminServer } from '../admin/admin-server.js';
import { revision, versionText } from '../cli/version.js';
import type { Options } from '../cli/parse.js';
import { formatIssue } from '../config/issue.js';
import { loadBootstrap, type LoadedBootstrap } from '../config/load.js';
import type { Log } from '../logging/logger.js';
import { loadAddon, type NativeProxy } from '../native.js';
import { compileBootstrap, type CompiledBootstrap } from '../plan/compile.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import { DnsMonitor } from './dns.js';
import { localAddress } from './local-address.js';
import type { ServerState } from './state.js';
import { StatsFlush } from './stats-flush.js';

/** A configuration, or a machine, that does not let the server start. */
export class StartError extends Error {}

/** Reads and compiles the configuration. Throws a StartError that holds every problem at once. */
export function readConfiguration(options: Options): { loaded: LoadedBootstrap; compiled: CompiledBootstrap } {
  const loaded = loadBootstrap({
    ...(options.configPath === '' ? {} : { path: options.configPath }),
    ...(options.configYaml === '' ? {} : { inlineYaml: options.configYaml }),
  });
  const failIfAny = (issues: readonly Parameters<typeof formatIssue>[0][]): void => {
    const errors = issues.filter((issue) => issue.severity === 'error');
    if (errors.length > 0) throw new StartError(errors.map(formatIssue).join('\n'));
  };
  failIfAny(loaded.issues);
  if (!loaded.bootstrap) throw new StartError('there is no configuration');
  const compiled = compileBootstrap(loaded.bootstrap, {
    serviceCluster: options.serviceCluster,
    serviceNode: options.serviceNode,
    localAddress: localAddress(options.localAddressIpVersion),
  });
  const located = compiled.issues.map((issue) => {
    const position = issue.position ?? loaded.locate(issue.path);
    return position ? { ...issue, position } : issue;
  });
  failIfAny(located);
  return { loaded, compiled };
}

export class Server {
  readonly options: Options;
  readonly log: Log;
  readonly native: NativeProxy;
  readonly concurrency: number;
  readonly startedAt = Date.now();
  readonly bootstrap: NonNullable<LoadedBootstrap['bootstrap']>;
  readonly #compiled: CompiledBootstrap;
  readonly #flush: StatsFlush;
  readonly #monitors: DnsMonitor[] = [];
  #admin: AdminServer | undefined;
  #state: ServerState = 'PRE_INITIALIZING';
  #failedHealthCheck = false;
  #stopping: Promise<void> | undefined;

  /** Throws a StartError. */
  constructor(options: Options, log: Log) {
    this.options = options;
    this.log = log;
    const { loaded, compiled } = readConfiguration(options);
    this.bootstrap = loaded.bootstrap!;
    this.#compiled = compiled;
    this.concurrency = options.concurrency ?? availableParallelism();
    this.native = loadAddon().create({
      concurrency: this.concurrency,
      fileFlushIntervalMs: options.fileFlushIntervalMsec,
      fixedTags: options.statsTags,
    });
    this.#flush = new StatsFlush(this.native, {
      state: () => this.state(),
      uptimeMs: () => Date.now() - this.startedAt,
      concurrency: this.concurrency,
      versionNumber: parseInt(revision().slice(0, 6), 16),
    });
  }

  state(): ServerState {
    return this.#failedHealthCheck ? 'DRAINING' : this.#state;
  }

  /** Starts everything. Resolves when the server is LIVE; rejects with a StartError. */
  async start(): Promise<void> {
    this.log.info('main', `initializing epoch 0 (base id=${this.options.baseId})`);
    this.#apply();
    await this.#startAdmin();
    await this.#resolveClusters();
    this.#state = 'INITIALIZING';
    this.log.info('config', 'all dependencies initialized. starting workers');
    this.native.start();
    const interval = (this.bootstrap as { stats_flush_interval?: number }).stats_flush_interval;
    this.#flush.start(interval ?? 5000);
    this.#state = 'LIVE';
    const initialization = this.native.stat('server.initialization_time_ms');
    this.native.histogramRecord(initialization, Date.now() - this.startedAt);
    this.log.info('main', 'starting main dispatch loop');
  }

  /** Ends connections, writes logs, frees the ports. May be called more than once. */
  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  /** Whether health checks of this proxy are to fail. */
  setHealthy(healthy: boolean): void {
    this.#failedHealthCheck = !healthy;
  }

  flushStats(): void {
    this.#flush.flush();
  }

  reopenLogs(): void {
    this.native.reopenLogs();
    this.log.reopen();
  }

  version(): string {
    return versionText();
  }

  get adminAddress(): string | undefined {
    return this.#admin?.address;
  }

  #apply(): void {
    this.log.info('config', `loading ${this.#compiled.update.clusters?.length ?? 0} cluster(s)`);
    this.log.info('config', `loading ${this.#compiled.update.listeners?.length ?? 0} listener(s)`);
    const errors = this.native.apply(encodeUpdate(this.#compiled.update));
    if (errors.length === 0) return;
    const lines = errors.map((error) => (error.kind === 'listener' ? error.message : `${error.kind} '${error.name}': ${error.message}`));
    throw new StartError(lines.join('\n'));
  }

  async #startAdmin(): Promise<void> {
    const plan = this.#compiled.admin;
    if (!plan) return;
    this.#admin = new AdminServer(this);
    try {
      await this.#admin.listen(plan.address);
    } catch (error) {
      throw new StartError(`admin: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.log.info('admin', `admin address: ${this.#admin.address}`);
    if (this.options.adminAddressPath !== '') writeFileSync(this.options.adminAddressPath, this.#admin.address);
  }

  async #resolveClusters(): Promise<void> {
    for (const plan of this.#compiled.dnsClusters) {
      const cluster = this.#compiled.update.clusters?.find((known) => known.name === plan.name);
      const statName = cluster?.observability_name || plan.name;
      const monitor = new DnsMonitor(plan, {
        onHosts: (assignment) => {
          this.native.apply(encodeUpdate({ assignments: [assignment] }));
        },
        count: (stat) => this.native.counterAdd(this.native.stat(`cluster.${statName}.${stat}`), 1),
        log: (level, message) => this.log.write(level, 'dns', message),
      });
      this.#monitors.push(monitor);
    }
    await Promise.all(this.#monitors.map((monitor) => monitor.start()));
    this.log.info('upstream', 'cm init: all clusters initialized');
  }

  async #end(): Promise<void> {
    this.log.info('main', 'shutting down server instance');
    this.#flush.stop();
    for (const monitor of this.#monitors) monitor.stop();
    this.#admin?.close();
    await this.native.shutdown();
    this.log.info('main', 'exiting');
  }
}
