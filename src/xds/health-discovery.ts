// Health discovery (envoy.service.health.v3): a service says which hosts are to be checked, and hears how
// they are. Its clusters are this proxy's for their checks alone.
import { formatIssue, type Issue } from '../config/issues/issue.js';
import { loadAny } from '../config/load-any.js';
import { startTimeout } from '../base/timers.js';
import { WireWriter } from '../base/wire.js';
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_config_core_v3_Locality as Locality,
  envoy_service_health_v3_ClusterHealthCheck as ClusterHealthCheck,
  envoy_service_health_v3_HealthCheckSpecifier as Specifier,
} from '../../build/messages.gen.js';
import type { GrpcClient } from '../grpc/client.js';
import type { Level } from '../logging/levels.js';
import type { NativeProxy } from '../native.js';
import type { ClusterPlan } from '../plan/cluster/cluster.js';
import { Place } from '../plan/message/place.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import type { ControlStats } from '../stats/control-stats.js';
import { ReconnectingStream } from './reconnecting-stream.js';

const METHOD = '/envoy.service.health.v3.HealthDiscoveryService/StreamHealthCheck';
const SPECIFIER = 'type.googleapis.com/envoy.service.health.v3.HealthCheckSpecifier';
/** As the real server, whose pauses begin anew with each stream. */
const PAUSES = { firstMs: 1000, longestMs: 1000 };
const DEFAULT_INTERVAL_MS = 1000;
const CONNECT_TIMEOUT_MS = 1000;
/** No name of a cluster that requests may go to. */
const PREFIX = 'health discovery of ';
const HTTP = 0;
const TCP = 1;
const HEALTHY = 1;
const UNHEALTHY = 2;
const TIMEOUT = 4;
const BYTES = 2;
const text = (field: number): number => (field << 3) | BYTES;
const number = (field: number): number => field << 3;

export interface HealthDiscoveryHost {
  readonly native: NativeProxy;
  readonly stats: ControlStats;
  readonly log: (level: Level, message: string) => void;
  readonly node: Uint8Array;
  readonly makeClient: () => Promise<GrpcClient>;
  compile(message: ClusterMessage, place: Place): ClusterPlan | undefined;
}

interface CheckedHost {
  readonly address: { readonly socket_address?: { address?: string; port_value?: number } };
  readonly locality?: Locality;
  readonly health_status?: {
    readonly failed_active_health_check?: boolean;
    readonly active_hc_timeout?: boolean;
  };
}

interface Checked {
  readonly cluster: string;
  readonly hosts: readonly CheckedHost[];
}

export class HealthDiscovery {
  readonly #host: HealthDiscoveryHost;
  readonly #prefix: string;
  readonly #stream: ReconnectingStream;
  #send: ((message: Uint8Array) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Of each cluster that is checked, what was said of it. */
  #checked = new Map<string, string>();
  #latest = '';

  constructor(host: HealthDiscoveryHost) {
    this.#host = host;
    this.#prefix = host.native.addHdsStats();
    this.#stream = new ReconnectingStream(METHOD, PAUSES, host.makeClient, host.log, {
      onOpen: (send) => {
        this.#send = send;
        this.#introduce();
      },
      onMessage: (bytes) => this.#onSpecifier(bytes),
      onClosed: () => {
        this.#send = undefined;
        clearTimeout(this.#timer);
        this.#count('errors');
      },
    });
  }

  start(): Promise<void> {
    return this.#stream.start();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stream.stop();
  }

  #introduce(): void {
    const out = new WireWriter();
    out.message(text(1), this.#host.node, (request, node) => {
      request.bytes(text(1), node);
      request.message(text(2), node, (capability) => {
        capability.bytes(text(1), Uint8Array.of(HTTP, TCP));
      });
    });
    this.#send?.(out.finish());
    this.#count('responses');
  }

  #onSpecifier(bytes: Buffer): void {
    this.#count('requests');
    const { message, issues } = loadAny(SPECIFIER, bytes, { unknownFields: 'warning' });
    const errors = issues.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) {
      this.#refuse(errors);
      return;
    }
    const specifier = message as Specifier;
    const latest = bytes.toString('base64');
    if (latest !== this.#latest) {
      this.#latest = latest;
      this.#count('updates');
      this.#apply(specifier.cluster_health_checks ?? []);
    }
    this.#again(specifier.interval ?? DEFAULT_INTERVAL_MS);
  }

  #refuse(issues: readonly Issue[]): void {
    this.#count('errors');
    for (const issue of issues) this.#host.log('warning', `hds: ${formatIssue(issue)}`);
  }

  /** Clusters of which the same is said go on. */
  #apply(all: readonly ClusterHealthCheck[]): void {
    const wanted = new Map(all.map((one) => [one.cluster_name ?? '', one]));
    const gone = [...this.#checked.keys()].filter((name) => !wanted.has(name));
    const issues: Issue[] = [];
    const plans: ClusterPlan[] = [];
    const checked = new Map<string, string>();
    for (const [name, one] of wanted) {
      const said = JSON.stringify(one);
      checked.set(name, said);
      if (this.#checked.get(name) === said) continue;
      const plan = this.#host.compile(clusterOf(name, one), Place.root(issues));
      if (plan) plans.push(plan);
    }
    const errors = issues.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) {
      this.#refuse(errors);
      return;
    }
    this.#checked = checked;
    const update = encodeUpdate({
      clusters: plans.map(({ cluster }) => ({
        ...cluster,
        observability_name: cluster.name?.slice(PREFIX.length),
        is_hidden: true,
      })),
      assignments: plans.flatMap(({ assignment }) => assignment ?? []),
      removed_clusters: gone.map((name) => PREFIX + name),
    });
    for (const error of this.#host.native.apply(update)) {
      this.#host.log('warning', `hds: ${error.name}: ${error.message}`);
    }
  }

  #again(intervalMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = startTimeout(() => {
      this.#respond();
      this.#again(intervalMs);
    }, intervalMs).unref();
  }

  #respond(): void {
    const all = [...this.#checked.keys()].map((cluster): Checked => {
      const json = this.#host.native.clusterStatus(PREFIX + cluster);
      const status = json === undefined ? {} : (JSON.parse(json) as { host_statuses?: [] });
      return { cluster, hosts: status.host_statuses ?? [] };
    });
    const out = new WireWriter();
    out.message(text(2), all, (response) => {
      for (const { hosts } of all) {
        for (const host of hosts) response.message(text(1), host, writeHealth);
      }
      for (const one of all) response.message(text(2), one, writeCluster);
    });
    this.#send?.(out.finish());
    this.#count('responses');
  }

  #count(name: 'errors' | 'requests' | 'responses' | 'updates'): void {
    this.#host.stats.count(`${this.#prefix}${name}`);
  }
}

function clusterOf(name: string, check: ClusterHealthCheck): ClusterMessage {
  const { health_checks: checks, transport_socket_matches: matches } = check;
  return {
    name: PREFIX + name,
    type: 'STATIC',
    connect_timeout: CONNECT_TIMEOUT_MS,
    ...(checks && { health_checks: checks }),
    ...(matches && { transport_socket_matches: matches }),
    ...(check.upstream_bind_config && { upstream_bind_config: check.upstream_bind_config }),
    load_assignment: {
      cluster_name: name,
      endpoints: (check.locality_endpoints ?? []).map(({ locality, endpoints }) => ({
        ...(locality && { locality }),
        lb_endpoints: (endpoints ?? []).map((endpoint) => ({ endpoint })),
      })),
    },
  };
}

function writeHealth(out: WireWriter, { address, health_status: health = {} }: CheckedHost): void {
  const { address: ip = '', port_value: port = 0 } = address.socket_address ?? {};
  out.message(text(1), address, (endpoint) =>
    endpoint.message(text(1), address, (at) =>
      at.message(text(1), address, (socket) => {
        socket.text(text(2), ip);
        socket.number(number(3), port);
      }),
    ),
  );
  const failed = health.active_hc_timeout ? TIMEOUT : UNHEALTHY;
  out.number(number(2), health.failed_active_health_check ? failed : HEALTHY);
}

function writeCluster(out: WireWriter, { cluster, hosts }: Checked): void {
  out.text(text(1), cluster);
  const places = new Map<string, CheckedHost[]>();
  for (const host of hosts) {
    const key = JSON.stringify(host.locality ?? {});
    const known = places.get(key);
    if (known) known.push(host);
    else places.set(key, [host]);
  }
  for (const group of places.values()) {
    out.message(text(2), group, (inner) => {
      inner.message(text(1), group[0]?.locality ?? {}, writeLocality);
      for (const host of group) inner.message(text(2), host, writeHealth);
    });
  }
}

function writeLocality(out: WireWriter, { region, zone, sub_zone: sub }: Locality): void {
  if (region) out.text(text(1), region);
  if (zone) out.text(text(2), zone);
  if (sub) out.text(text(3), sub);
}
