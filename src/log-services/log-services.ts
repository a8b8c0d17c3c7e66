// Access logs for services: what workers have gathered comes here, at intervals or as their buffers
// fill up, and goes on. A service that does not take it in time is not waited for: workers keep what
// they have room for, and count the rest as lost.
import { guarded, unawaited } from '../base/bugs.js';
import { startInterval } from '../base/timers.js';
import type { GrpcClient } from '../grpc/client.js';
import type { GrpcClients } from '../grpc/clients.js';
import type { ClusterHttp } from '../http/cluster-http.js';
import type { NativeProxy } from '../native.js';
import type { OtlpHttpSender } from '../otlp/otlp-senders.js';
import type { LogServicePlan, LogServices as Declared, OtelLogPlan } from '../plan/log-service.js';
import type { Sender } from '../stats/node-bytes.js';
import { MOST_WAITING_BYTES } from './kept-entries.js';
import { OtelSender } from './otel-sender.js';
import type { EntrySender } from './sender-host.js';
import { StreamSender } from './stream-sender.js';

export interface LogServicesHost {
  readonly native: Pick<NativeProxy, 'onLogEntries' | 'flushLogService' | 'blockLogService'>;
  readonly sender: Sender;
  /** Loaded only where it is used. */
  readonly clients: () => Promise<GrpcClients>;
  /** To the hosts of a cluster; loaded only where it is used. */
  readonly http: (cluster: string) => Promise<ClusterHttp>;
  count(name: string, amount: number): void;
  warn(message: string): void;
}

export class LogServices {
  readonly #declared: Declared;
  readonly #host: LogServicesHost;
  readonly #senders = new Map<number, Promise<EntrySender>>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #waiting = new Map<number, number>();
  #isClosed = false;

  constructor(declared: Declared, host: LogServicesHost) {
    this.#declared = declared;
    this.#host = host;
    declared.plans.forEach((_, id) => this.#begin(id));
    declared.onAdded = (id) => this.#begin(id);
  }

  close(): void {
    this.#isClosed = true;
    this.#declared.onAdded = undefined;
    for (const timer of this.#timers) clearInterval(timer);
    for (const sender of this.#senders.values()) {
      unawaited(
        'the end of a log service',
        sender.then((one) => one.close()),
      );
    }
  }

  #begin(id: number): void {
    const plan = this.#declared.plans[id];
    if (!plan) return;
    if (this.#timers.length === 0) {
      const take = (service: number, count: bigint, entries: Buffer): void =>
        this.#take(service, Number(count), entries);
      this.#host.native.onLogEntries(guarded('entries of an access log', take));
    }
    const flush = (): void => this.#host.native.flushLogService(id);
    this.#timers.push(startInterval(flush, Math.max(1, plan.flushMs)).unref());
  }

  #take(id: number, count: number, entries: Buffer): void {
    const plan = this.#declared.plans[id];
    if (!plan || this.#isClosed) return;
    let sender = this.#senders.get(id);
    if (!sender) {
      sender = this.#make(plan, id);
      this.#senders.set(id, sender);
    }
    unawaited(
      'entries of an access log',
      sender.then((one) => one.send(entries, count)),
    );
  }

  async #make(plan: LogServicePlan, id: number): Promise<EntrySender> {
    const host = {
      sender: this.#host.sender,
      /** `bytes` more, or fewer, wait to be sent. */
      onWaiting: (bytes: number) => this.#onWaiting(id, bytes),
      count: (name: string, amount: number) => this.#host.count(name, amount),
      warn: (message: string) => this.#host.warn(message),
    };
    if (plan.kind === 'stream') {
      return new StreamSender(plan, await (await this.#host.clients()).make(plan.service), host);
    }
    return new OtelSender(plan, await this.#wayOf(plan.via), host);
  }

  async #wayOf(via: OtelLogPlan['via']): Promise<GrpcClient | OtlpHttpSender> {
    if (via.kind !== 'http') return (await this.#host.clients()).make(via);
    const { OtlpHttpSender } = await import('../otlp/otlp-senders.js');
    return new OtlpHttpSender(await this.#host.http(via.service.cluster), via.service);
  }

  #onWaiting(id: number, bytes: number): void {
    const before = this.#waiting.get(id) ?? 0;
    const now = before + bytes;
    this.#waiting.set(id, now);
    const isFull = now >= MOST_WAITING_BYTES;
    if (isFull !== before >= MOST_WAITING_BYTES) this.#host.native.blockLogService(id, isFull);
  }
}
