// The control planes that this server asks: one stream for all of ADS, one for each subscription with a
// source of its own.
import type { GrpcClients } from '../grpc/clients.js';
import type { PlainObject } from '../config/values/objects.js';
import type { ClusterNative } from '../grpc/cluster-stats.js';
import { ClusterHttp, type TextAnswer } from '../http/cluster-http.js';
import type { NativeProxy } from '../native.js';
import type { RestSource, Source, StreamPlan } from '../plan/sources.js';
import { ADS_DELTA, ADS_STREAM, type DiscoveryApi } from './api.js';
import { FileSubscription } from './file-subscription.js';
import { Mux } from './mux.js';
import { RestSubscription } from './rest-subscription.js';
import { StreamSubscription } from './stream-subscription.js';
import type { SubscriptionHost } from './subscription-host.js';
import type { Transport } from './transport.js';
import type { Watcher } from './watcher.js';
import type { Updates } from './updates.js';

export interface ControlPlanesHost extends SubscriptionHost {
  readonly native: ClusterNative & Pick<NativeProxy, 'addControlPlaneStats' | 'removeStats'>;
  /** Who this server is: in protobuf, and in JSON. */
  readonly node: { readonly bytes: Uint8Array; readonly json: PlainObject };
  readonly clients: () => Promise<GrpcClients>;
}

export interface Wanted {
  readonly api: DiscoveryApi;
  readonly source: Source;
  readonly names: readonly string[];
  /** The only name is that of a collection. */
  readonly isCollection?: boolean;
  /** As Watcher's. */
  readonly prefix?: string;
  readonly statPrefix: string;
  readonly onAnswered?: NonNullable<Watcher['onAnswered']>;
  readonly onAbsent?: () => void;
}

/** Of an answer over REST. */
const LONGEST_BYTES = 256 * 2 ** 20;

export class ControlPlanes {
  readonly #host: ControlPlanesHost;
  readonly #ads: Mux | undefined;
  readonly #adsPlan: StreamPlan | undefined;
  readonly #authorities: readonly Mux[];
  /** Of those over REST, by the names of their clusters. */
  readonly #http = new Map<string, ClusterHttp>();

  /** `ads`: the bootstrap's aggregated stream; `authorities`: those of xdstp names. */
  constructor(
    ads: StreamPlan | undefined,
    authorities: readonly StreamPlan[],
    host: ControlPlanesHost,
  ) {
    this.#host = host;
    this.#adsPlan = ads;
    this.#ads = ads && this.#aggregated(ads);
    this.#authorities = authorities.map((plan) => this.#aggregated(plan));
  }

  /** As the real server: aggregated streams are there before anybody asks. */
  open(): void {
    this.#ads?.open();
    for (const one of this.#authorities) one.open();
  }

  /** Whether requests and answers of that type wait, on aggregated streams. */
  hold(api: DiscoveryApi, isHeld: boolean): void {
    this.#ads?.hold(api, isHeld);
    for (const one of this.#authorities) one.hold(api, isHeld);
  }

  /** How many clusters there have to be at least. */
  minClusters(source: Source): number {
    const stream = source.kind === 'grpc' ? source.stream : this.#adsPlan;
    const isStream = source.kind === 'grpc' || source.kind === 'ads';
    return isStream ? (stream?.minClusters ?? 0) : 0;
  }

  stop(): void {
    this.#ads?.stop();
    for (const one of this.#authorities) one.stop();
    for (const one of this.#http.values()) one.close();
  }

  #post(source: RestSource, path: string, body: string): Promise<TextAnswer | undefined> {
    const { clusterName: name, clusters } = source;
    const known = this.#http.get(name);
    const { native, stats } = this.#host;
    const { localAddress, requestTimeoutMs: timeoutMs } = source;
    const http =
      known ?? new ClusterHttp(name, clusters, { native, stats }, localAddress, LONGEST_BYTES);
    if (!known) this.#http.set(name, http);
    return http.ask({
      ...{ host: name, path, timeoutMs, isSized: true, body: Buffer.from(body) },
      headers: [['content-type', 'application/json']],
    });
  }

  transport(
    { api, source, names, isCollection, prefix, statPrefix, onAnswered, onAbsent }: Wanted,
    updates: Updates,
  ): Transport {
    const host = this.#host;
    if (source.kind === 'file') return new FileSubscription(source, updates, host);
    const wants = {
      ...{ api, names, isCollection, prefix, onAnswered, onAbsent },
      initialFetchTimeoutMs: source.initialFetchTimeoutMs,
    };
    if (source.kind === 'rest') {
      return new RestSubscription(
        source,
        {
          ...{ api, names, node: host.node.json },
          post: (path, body) => this.#post(source, path, body),
        },
        updates,
        host,
      );
    }
    if (source.kind === 'ads') {
      const { authority } = source;
      const mux = authority === undefined ? this.#ads : this.#authorities[authority];
      if (!mux) throw new Error('there is no aggregated stream');
      return new StreamSubscription(wants, { mux, ownsMux: false }, updates, host);
    }
    const { stream } = source;
    const mux = this.#mux(stream, statPrefix, stream.isDelta ? api.delta : api.stream);
    return new StreamSubscription(wants, { mux, ownsMux: true }, updates, host);
  }

  #aggregated(plan: StreamPlan): Mux {
    return this.#mux(plan, '', plan.isDelta ? ADS_DELTA : ADS_STREAM);
  }

  #mux(plan: StreamPlan, owner: string, method: string): Mux {
    const { native, node, clients } = this.#host;
    const statPrefix = native.addControlPlaneStats(owner);
    return new Mux(plan, this.#host, {
      statPrefix,
      method,
      node: node.bytes,
      makeClient: async () => (await clients()).make(plan.service, owner),
      onStop: () => native.removeStats(statPrefix),
    });
  }
}
