// Parts of a server, each made with what it needs of the rest.
import { existsSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import type { envoy_config_core_v3_Node as Node } from '../../build/messages.gen.js';
import type { GrpcClients } from '../grpc/clients.js';
import { LogServices } from '../log-services/log-services.js';
import type { Log } from '../logging/logger.js';
import { stackEntries } from '../logging/stack.js';
import type { Addon, NativeProxy } from '../native.js';
import type { Options } from '../options/parse.js';
import { OverloadManager } from '../overload/overload-manager.js';
import type { OverloadPlan } from '../plan/bootstrap/overload.js';
import { CONNECTION_LIMIT } from '../plan/compile.js';
import type { CompiledRest } from '../plan/compiled.js';
import type { SinkPlan } from '../plan/extension-plans.js';
import { encodeStatsSettings, encodeUpdate } from '../plan/plan.gen.js';
import type { Runtime } from '../runtime/runtime.js';
import { valuesOf } from '../runtime/snapshot.js';
import type { ControlStats } from '../stats/control-stats.js';
import { formatsOf, makeSinks } from '../stats/make-sinks.js';
import { FileWatch } from '../xds/file-watch.js';
import type { Configuration } from './configuration.js';
import { senderOf } from './sender.js';
import { DEFAULT_FLUSH_INTERVAL_MS } from './settings.js';
import { SpanExport } from './span-export.js';
import { StartError } from './start-error.js';

/** What they need of a server. */
export interface PartsHost {
  readonly options: Options;
  readonly node: Node;
  readonly concurrency: number;
  readonly log: Log;
  readonly native: NativeProxy;
  readonly stats: ControlStats;
  readonly runtime: Runtime;
}

/** The sink that an admin page shows; undefined: there is none. */
export function hystrixOf({
  compiled,
}: Configuration): Extract<SinkPlan, { readonly kind: 'hystrix' }> | undefined {
  return compiled.sinks.find((sink) => sink.kind === 'hystrix');
}

export function makeNative(
  addon: Pick<Addon, 'create'>,
  options: Options,
  configuration: Configuration,
  concurrency: number,
): NativeProxy {
  const { settings, compiled } = configuration;
  return addon.create({
    concurrency,
    fileFlushIntervalMs: Math.max(1, options.fileFlushIntervalMsec),
    logFlushBytes:
      options.fileFlushMinSizeKb === undefined ? undefined : options.fileFlushMinSizeKb * 1024,
    tracesLocks: options.enableMutexTracing,
    stats: encodeStatsSettings({
      ...settings.stats,
      sinks: formatsOf(compiled.sinks),
      hystrix_buckets: hystrixOf(configuration)?.buckets,
      flush_interval_ms: settings.statsFlushIntervalMs ?? DEFAULT_FLUSH_INTERVAL_MS,
      zone: compiled.context.zone,
    }),
  });
}

export function makeOverload(
  plan: OverloadPlan,
  { stats, runtime, native, log }: PartsHost,
): OverloadManager {
  try {
    return new OverloadManager(plan, {
      stats,
      number: (key, fallback) => valuesOf(runtime.snapshot).number(key, fallback),
      residentBytes: () => process.memoryUsage.rss(),
      watch: (path, onChange) => new FileWatch({ path, watchesWrites: false }, onChange),
      apply: (update) => native.apply(encodeUpdate(update)),
      log: (level, message) => log.write(level, 'main', message),
    });
  } catch (error) {
    throw new StartError(`overload_manager: ${(error as Error).message}`);
  }
}

export function makeSpanExport({ compiled }: Configuration, host: PartsHost): SpanExport {
  const { context } = compiled;
  return new SpanExport(context.tracers, {
    native: host.native,
    stats: host.stats,
    clusters: context.grpcClusters,
    local: {
      nodeId: context.serviceNode,
      zone: context.zone,
      serviceCluster: context.serviceCluster,
      address: context.localAddress,
      threads: host.concurrency + 1,
    },
    number: (key, fallback) => valuesOf(host.runtime.snapshot).number(key, fallback),
    count: (name, amount) => host.stats.count(name, amount),
    warn: (message) => host.log.warn('tracing', message),
    info: (message) => host.log.info('tracing', message),
  });
}

/** Those that are fed from here. */
export function makeFedSinks(
  compiled: CompiledRest,
  host: PartsHost,
): ReturnType<typeof makeSinks> {
  return makeSinks(compiled.sinks, senderOf(host.node, host.options), host, {
    chooseHost: (cluster) => host.native.chooseHost(cluster),
    countOf: (cluster, statistic, amount) =>
      host.stats.count((host.native.clusterPrefix(cluster) ?? '') + statistic, amount),
    count: (name) => host.stats.count(name),
    clusters: compiled.context.grpcClusters,
    localAddress: compiled.context.localAddress,
    warn: (message) => host.log.warn('stats_sinks', message),
    info: (message) => host.log.info('stats_sinks', message),
  });
}

/** Where access logs go that are none of files. */
export function makeLogServices(
  { compiled }: Configuration,
  { native, node, options, stats, log }: Omit<PartsHost, 'runtime'>,
): LogServices {
  let logClients: GrpcClients | undefined;
  return new LogServices(compiled.logServices, {
    native,
    sender: senderOf(node, options),
    clients: async () => {
      const { GrpcClients } = await import('../grpc/clients.js');
      return (logClients ??= new GrpcClients(native, stats));
    },
    http: async (cluster) => {
      const { ClusterHttp } = await import('../http/cluster-http.js');
      const { grpcClusters, localAddress } = compiled.context;
      return new ClusterHttp(cluster, grpcClusters, { native, stats }, localAddress);
    },
    count: (name, amount) => stats.count(name, amount),
    warn: (message) => log.warn('config', message),
  });
}

export function enableCoreDump(addon: Pick<Addon, 'enableCoreDump'>, log: Log): void {
  try {
    if (addon.enableCoreDump() > 0) log.info('misc', 'core dump enabled');
    else log.warn('misc', 'core dump enabled, but the limit of its size is 0 (ulimit -c)');
  } catch (error) {
    log.warn('misc', `core dump not enabled: ${(error as Error).message}`);
  }
}

export function defaultConcurrency(options: Options): number {
  return options.cpusetThreads ? availableParallelism() : cpus().length;
}

/** A file `drain` in the folder of flags: clients are asked to leave from the first one on. */
export function beginsDrained(flagsPath: string | undefined, log: Log): boolean {
  if (flagsPath === undefined) return false;
  log.info('main', `server flags path: ${flagsPath}`);
  if (!existsSync(join(flagsPath, 'drain'))) return false;
  log.info('main', 'starting server in drain mode');
  return true;
}

export function warnOfNoLimit({ firstUpdate }: Configuration, log: Log): void {
  const limit = firstUpdate.connectionLimit;
  if (limit !== undefined && limit < Number.MAX_SAFE_INTEGER) return;
  log.warn(
    'main',
    'There is no configured limit to the number of allowed active downstream connections. Configure a ' +
      'limit in `envoy.resource_monitors.global_downstream_max_connections` resource monitor. The runtime key ' +
      `${CONNECTION_LIMIT} sets one: layered_runtime: {layers: [{name: limits, static_layer: {${CONNECTION_LIMIT}: 50000}}]}`,
  );
}

/** As the real server counts what should not have been, and goes on. */
export function tellBug(
  where: string,
  thrown: unknown,
  { options, log, stats }: Pick<PartsHost, 'options' | 'log' | 'stats'>,
): void {
  const [what = '', ...frames] = stackEntries(thrown, options.logStacktraceSingleEntry);
  for (const entry of [`envoy bug failure: in ${where}: ${what}`, ...frames]) {
    log.error('main', entry);
  }
  try {
    stats.count('server.envoy_bug_failures');
  } catch {
    // There is nothing left that counts.
  }
}

/** A file that cannot be written does not keep the proxy from its work. */
export function publishAddress(adminAddress: string, path: string, log: Log): void {
  try {
    writeFileSync(path, adminAddress);
  } catch {
    log.critical('admin', `cannot open admin address output file ${path} for writing.`);
  }
}
