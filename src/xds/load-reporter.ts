// Load reports (envoy.service.load_stats.v3): what clusters have had to do, by priority and locality, as
// often as the service wants to know.
import { loadAny } from '../config/load-any.js';
import { startTimeout } from '../base/timers.js';
import { WireWriter } from '../base/wire.js';
import type {
  envoy_config_core_v3_Locality as Locality,
  envoy_service_load_stats_v3_LoadStatsResponse as Response,
} from '../../build/messages.gen.js';
import type { GrpcClient } from '../grpc/client.js';
import type { Level } from '../logging/levels.js';
import type { NativeProxy } from '../native.js';
import type { ControlStats } from '../stats/control-stats.js';
import { ReconnectingStream } from './reconnecting-stream.js';

const METHOD = '/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats';
const RESPONSE = 'type.googleapis.com/envoy.service.load_stats.v3.LoadStatsResponse';
/** What the real server can do, too. */
const FEATURE = 'envoy.lrs.supports_send_all_clusters';
const PAUSES = { firstMs: 5000, longestMs: 5000, isFixed: true };
const BYTES = 2;
const text = (field: number): number => (field << 3) | BYTES;
const number = (field: number): number => field << 3;
const DOUBLE = 1;
const double = (field: number): number => (field << 3) | DOUBLE;

/** Of the service's clusters; what EDS calls one, where it does. */
export interface ReportedCluster {
  readonly name: string;
  readonly serviceName: string;
}

export interface LoadReporterHost {
  readonly native: NativeProxy;
  readonly stats: ControlStats;
  readonly log: (level: Level, message: string) => void;
  readonly node: Uint8Array;
  readonly makeClient: () => Promise<GrpcClient>;
  clusters(): readonly ReportedCluster[];
}

/** What a host has counted, as /clusters has it. */
interface LiveHost {
  readonly address: { readonly socket_address?: { address?: string; port_value?: number } };
  readonly hostname?: string;
  readonly priority?: number;
  readonly locality?: Locality;
  readonly stats?: readonly { readonly name?: string; readonly value?: string }[];
}

interface Loads {
  readonly issued: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly active: number;
}

/** What hosts have reported of their load: by name the number of reports, and their sum. */
type Metrics = Readonly<Record<string, readonly [reports: number, total: number]>>;

/** Requests that no host was asked for: by the share that is dropped, and by limits and maintenance. */
interface Unsent {
  readonly dropped: number;
  readonly shed: number;
}

interface TakenLoads extends Unsent {
  /** What drops are called. */
  readonly category: string;
  readonly hosts?: readonly Metrics[];
}

interface Group {
  readonly locality: Locality;
  readonly priority: number;
  loads: Loads;
  readonly hosts: {
    readonly host: LiveHost;
    readonly loads: Loads;
    readonly metrics: Metrics;
  }[];
}

/** A cluster, since it was told of last, and what had been counted by then. */
interface Watched {
  sinceMs: number;
  hosts: ReadonlyMap<string, Loads>;
  unsent: Unsent;
}

const NOTHING: TakenLoads = { dropped: 0, shed: 0, category: '' };
const NONE: Loads = { issued: 0, succeeded: 0, failed: 0, active: 0 };

export class LoadReporter {
  readonly #host: LoadReporterHost;
  readonly #prefix: string;
  readonly #stream: ReconnectingStream;
  #send: ((message: Uint8Array) => void) | undefined;
  #asked: Response | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The clusters that are asked for. */
  readonly #watched = new Map<string, Watched>();

  constructor(host: LoadReporterHost) {
    this.#host = host;
    this.#prefix = host.native.addLoadReporterStats();
    this.#stream = new ReconnectingStream(METHOD, PAUSES, host.makeClient, host.log, {
      onOpen: (send) => {
        this.#send = send;
        // What an earlier stream asked for is told of on this one, too.
        this.#report(this.#wanted());
        if (this.#asked) this.#again();
      },
      onMessage: (bytes) => this.#onResponse(bytes),
      onClosed: ({ code }) => {
        this.#send = undefined;
        clearTimeout(this.#timer);
        // That the service is done with a stream is no error.
        if (code !== 'OK') this.#count('errors');
      },
      onRetry: () => this.#count('retries'),
    });
  }

  start(): Promise<void> {
    return this.#stream.start();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stream.stop();
  }

  #onResponse(bytes: Buffer): void {
    const { message, issues } = loadAny(RESPONSE, bytes, { unknownFields: 'warning' });
    if (issues.some(({ severity }) => severity === 'error')) {
      this.#stream.breakOff('what came is no LoadStatsResponse');
      return;
    }
    this.#count('requests');
    this.#asked = message as Response;
    const wanted = this.#wanted();
    const names = new Set(wanted.map(({ name }) => name));
    for (const name of this.#watched.keys()) if (!names.has(name)) this.#watched.delete(name);
    for (const { name } of wanted) this.#begin(name);
    this.#again();
  }

  /** A cluster that is watched already goes on. */
  #begin(name: string): Watched {
    const known = this.#watched.get(name);
    if (known) return known;
    const keys = new HostKeys();
    const watched = {
      sinceMs: performance.now(),
      hosts: new Map(this.#hosts(name).map((host) => [keys.of(host), loadsOf(host)] as const)),
      unsent: unsentOf(this.#takeLoads(name)),
    };
    this.#watched.set(name, watched);
    return watched;
  }

  #again(): void {
    clearTimeout(this.#timer);
    const ms = this.#asked?.load_reporting_interval ?? 0;
    this.#timer = startTimeout(() => {
      this.#report(this.#wanted());
      this.#again();
    }, ms).unref();
  }

  #wanted(): readonly ReportedCluster[] {
    const all = this.#host.clusters();
    if (this.#asked?.send_all_clusters) return all;
    const names = new Set(this.#asked?.clusters ?? []);
    return all.filter(({ name }) => names.has(name));
  }

  #report(clusters: readonly ReportedCluster[]): void {
    const out = new WireWriter();
    out.message(text(1), this.#host.node, (node, bytes) => {
      node.raw(bytes);
      node.text(text(10), FEATURE);
    });
    for (const cluster of clusters) {
      const watched = this.#begin(cluster.name);
      out.message(text(2), cluster, (inner, one) => this.#writeCluster(inner, one, watched));
    }
    // As the real server counts: a report is a response to what the service wants.
    this.#count('responses');
    this.#send?.(out.finish());
  }

  #writeCluster(out: WireWriter, cluster: ReportedCluster, watched: Watched): void {
    const { name, serviceName } = cluster;
    const now = performance.now();
    const ms = now - watched.sinceMs;
    watched.sinceMs = now;
    out.text(text(1), name);
    const taken = this.#takeLoads(name);
    const groups = this.#groups(name, watched, taken.hosts ?? []);
    for (const group of groups) out.message(text(2), group, this.#writeGroup);
    const { dropped, shed } = unsentSince(watched.unsent, taken);
    watched.unsent = unsentOf(taken);
    if (dropped + shed > 0) out.number(number(3), dropped + shed);
    out.message(text(4), ms, (duration) => {
      duration.number(number(1), Math.floor(ms / 1000));
      duration.number(number(2), Math.floor((ms % 1000) * 1e6));
    });
    if (dropped > 0) {
      out.message(text(5), dropped, (inner, count) => {
        inner.text(text(1), taken.category);
        inner.number(number(2), count);
      });
    }
    if (serviceName !== '') out.text(text(6), serviceName);
  }

  /** Those that had anything to do. */
  #groups(cluster: string, watched: Watched, reported: readonly Metrics[]): Group[] {
    const groups = new Map<string, Group>();
    const keys = new HostKeys();
    const counted = new Map<string, Loads>();
    for (const [index, host] of this.#hosts(cluster).entries()) {
      const key = keys.of(host);
      const now = loadsOf(host);
      const before = watched.hosts.get(key) ?? NONE;
      counted.set(key, now);
      const loads = {
        issued: now.issued - before.issued,
        succeeded: now.succeeded - before.succeeded,
        failed: now.failed - before.failed,
        active: now.active,
      };
      const { locality = {}, priority = 0 } = host;
      const place = JSON.stringify([priority, locality]);
      const group = groups.get(place) ?? { locality, priority, loads: NONE, hosts: [] };
      groups.set(place, group);
      group.loads = sumOf(group.loads, loads);
      group.hosts.push({ host, loads, metrics: reported[index] ?? {} });
    }
    watched.hosts = counted;
    return [...groups.values()].filter(({ loads }) => Object.values(loads).some((one) => one > 0));
  }

  readonly #writeGroup = (out: WireWriter, { locality, priority, loads, hosts }: Group): void => {
    out.message(text(1), locality, (inner, { region = '', zone = '', sub_zone: sub = '' }) => {
      if (region !== '') inner.text(text(1), region);
      if (zone !== '') inner.text(text(2), zone);
      if (sub !== '') inner.text(text(3), sub);
    });
    writeLoads(out, loads, 8);
    writeMetrics(
      out,
      hosts.map(({ metrics }) => metrics),
    );
    if (priority > 0) out.number(number(6), priority);
    if (!this.#asked?.report_endpoint_granularity) return;
    for (const one of hosts) {
      out.message(text(7), one, (inner, { host, loads: own, metrics }) => {
        const { address = '', port_value: port = 0 } = host.address.socket_address ?? {};
        inner.message(text(1), host, (at) =>
          at.message(text(1), host, (socket) => {
            socket.text(text(2), address);
            socket.number(number(3), port);
          }),
        );
        writeLoads(inner, own, 7);
        writeMetrics(inner, [metrics]);
      });
    }
  };

  #hosts(cluster: string): readonly LiveHost[] {
    const json = this.#host.native.clusterStatus(cluster);
    if (json === undefined) return [];
    return (JSON.parse(json) as { host_statuses?: LiveHost[] }).host_statuses ?? [];
  }

  #takeLoads(cluster: string): TakenLoads {
    const json = this.#host.native.takeLoads(cluster);
    return json === undefined ? NOTHING : (JSON.parse(json) as TakenLoads);
  }

  #count(name: 'errors' | 'requests' | 'responses' | 'retries'): void {
    this.#host.stats.count(`${this.#prefix}${name}`);
  }
}

const unsentOf = ({ dropped, shed }: Unsent): Unsent => ({ dropped, shed });

/** A cluster that has come in the place of another counts from the start. */
function unsentSince(before: Unsent, now: Unsent): Unsent {
  const isSame = now.dropped >= before.dropped && now.shed >= before.shed;
  if (!isSame) return now;
  return { dropped: now.dropped - before.dropped, shed: now.shed - before.shed };
}

function writeLoads(out: WireWriter, loads: Loads, issuedField: number): void {
  if (loads.succeeded > 0) out.number(number(2), loads.succeeded);
  if (loads.active > 0) out.number(number(3), loads.active);
  if (loads.failed > 0) out.number(number(4), loads.failed);
  if (loads.issued > 0) out.number(number(issuedField), loads.issued);
}

/** The hosts of a cluster in their order: the same address may be there several times, in several localities. */
class HostKeys {
  readonly #seen = new Map<string, number>();

  of({ address, hostname = '' }: LiveHost): string {
    const key = JSON.stringify([address, hostname]);
    const nth = this.#seen.get(key) ?? 0;
    this.#seen.set(key, nth + 1);
    return `${key} ${nth}`;
  }
}

function loadsOf({ stats = [] }: LiveHost): Loads {
  const valueOf = (name: string): number =>
    Number(stats.find((stat) => stat.name === name)?.value ?? 0);
  return {
    issued: valueOf('rq_total'),
    succeeded: valueOf('rq_success'),
    failed: valueOf('rq_error'),
    active: valueOf('rq_active'),
  };
}

/** Those of one name add up. */
function writeMetrics(out: WireWriter, all: readonly Metrics[]): void {
  for (const [name, [reports, total]] of sumMetrics(all)) {
    out.message(text(5), name, (metric) => {
      metric.text(text(1), name);
      metric.number(number(2), reports);
      if (total !== 0) metric.double(double(3), total);
    });
  }
}

function sumMetrics(all: readonly Metrics[]): Map<string, readonly [number, number]> {
  const sums = new Map<string, readonly [number, number]>();
  for (const metrics of all) {
    for (const [name, [reports, total]] of Object.entries(metrics)) {
      const [before, sum] = sums.get(name) ?? [0, 0];
      sums.set(name, [before + reports, sum + total]);
    }
  }
  return sums;
}

function sumOf(a: Loads, b: Loads): Loads {
  return {
    issued: a.issued + b.issued,
    succeeded: a.succeeded + b.succeeded,
    failed: a.failed + b.failed,
    active: a.active + b.active,
  };
}
