// What connections of the control plane count on their cluster and its hosts, as a worker would.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ownHeader } from '../base/own-headers.js';
import type { ClusterBudget, ControlHost, HostCounter, NativeProxy } from '../native.js';

/** The statistics that a cluster is counted in. */
export interface StatsHost {
  count(name: string, amount?: number): void;
  setGauge(name: string, value: number): void;
  record(name: string, value: number): void;
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type ClusterNative = Pick<
  NativeProxy,
  | 'chooseHost'
  | 'hostAdd'
  | 'takeBudget'
  | 'returnBudget'
  | 'countAnswer'
  | 'countRetried'
  | 'recordAnswerTime'
  | 'addHttp2Stats'
  | 'addGoogleGrpcStats'
  | 'removeStats'
  | 'clusterPrefix'
  | 'addTo'
>;

/** How OpenSSL calls curves that have other names in statistics. */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};

const HELD = ['outbound_frames_active', 'pending_send_bytes'];

function saysCanary(headers?: AnswerHeaders): boolean {
  return headers?.[ownHeader('upstream-canary')] === 'true';
}

export class ClusterStats {
  readonly #cluster: string;
  readonly #prefix: string;
  readonly #native: ClusterNative;
  readonly #stats: StatsHost;
  readonly #gauges: Map<string, number>;
  #hasHttp2 = false;
  #isOver = false;

  /** `former`: those of the cluster in whose place this one is. */
  constructor(cluster: string, native: ClusterNative, stats: StatsHost, former?: ClusterStats) {
    this.#cluster = cluster;
    this.#gauges = former ? former.#gauges : new Map<string, number>();
    this.#prefix = native.clusterPrefix(cluster) ?? '';
    this.#native = native;
    this.#stats = stats;
  }

  chooseHost(): ControlHost | undefined {
    return this.#native.chooseHost(this.#cluster);
  }

  count(name: string, amount = 1): void {
    this.#stats.count(this.#prefix + name, amount);
  }

  /** What has been agreed on, where `socket` speaks TLS; by which signature, Node does not tell. */
  countHandshake(socket: Socket | TLSSocket): void {
    if (!('getCipher' in socket)) return;
    this.count('ssl.handshake');
    if (socket.isSessionReused()) this.count('ssl.session_reused');
    const key = socket.getEphemeralKeyInfo();
    const curve = key && 'name' in key ? key.name : undefined;
    for (const agreed of [
      `versions.${socket.getProtocol() ?? ''}`,
      `ciphers.${socket.getCipher().name}`,
      `curves.${(curve && CURVES[curve]) ?? curve ?? ''}`,
    ]) {
      // Of others there are no statistics.
      this.#native.addTo(`${this.#prefix}ssl.${agreed}`, 1);
    }
  }

  /** Adds to a gauge; `amount` may be negative. */
  move(gauge: string, amount: number): void {
    const value = (this.#gauges.get(gauge) ?? 0) + amount;
    this.#gauges.set(gauge, value);
    this.#stats.setGauge(this.#prefix + gauge, value);
  }

  record(histogram: string, value: number): void {
    this.#stats.record(this.#prefix + histogram, Math.round(value));
  }

  /** The cluster is another, or gone: what is given back from here on was of its hosts and limits. */
  end(): void {
    this.#isOver = true;
  }

  countOn(host: ControlHost, counter: HostCounter, amount = 1): void {
    if (this.#isOver) return;
    this.#native.hostAdd(this.#cluster, host.address, host.port, counter, amount);
  }

  /** What HTTP/2 itself holds back: nothing that this process would know of. */
  showNothingHeld(): void {
    for (const gauge of HELD) this.#stats.setGauge(`${this.#prefix}http2.${gauge}`, 0);
  }

  /** The same of resets, and of what it answers frames with, from the first of them on. */
  showNoAnswersHeld(): void {
    this.#stats.setGauge(`${this.#prefix}http2.outbound_control_frames_active`, 0);
  }

  /** Whether one was left, and is taken. */
  tryTake(budget: ClusterBudget): boolean {
    return this.#native.takeBudget(this.#cluster, budget, false);
  }

  /** Takes one all the same; whether one was left. */
  take(budget: ClusterBudget): boolean {
    return this.#native.takeBudget(this.#cluster, budget, true);
  }

  giveBack(budget: ClusterBudget): void {
    if (this.#isOver) return;
    this.#native.returnBudget(this.#cluster, budget);
  }

  /** A call by the client that all clusters share. */
  countCall(): void {
    this.#stats.count('http.async-client.rq_total');
  }

  /** Of an answer that is asked for again. */
  countRetried(status: number): void {
    this.#native.countRetried(this.#cluster, status);
  }

  /** `host`: that has answered, with these headers, or has not; undefined: none was asked. */
  countAnswer(status: number, host?: ControlHost, headers?: AnswerHeaders): void {
    const isCanary = saysCanary(headers);
    this.#native.countAnswer(this.#cluster, status, host?.address, host?.port, isCanary);
  }

  recordAnswerTime(ms: number, { address, port }: ControlHost, headers: AnswerHeaders): void {
    const rounded = Math.round(ms);
    this.#native.recordAnswerTime(this.#cluster, rounded, address, port, saysCanary(headers));
  }

  /** Statistics of HTTP/2 are there from the first connection on. */
  showHttp2(): void {
    if (this.#hasHttp2) return;
    this.#hasHttp2 = true;
    this.#native.addHttp2Stats(this.#cluster);
  }
}
