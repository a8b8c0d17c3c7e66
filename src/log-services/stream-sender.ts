// envoy.service.accesslog.v3.AccessLogService: one stream, opened by the first entries, and again by
// the first after its end. Its first message says who sends.
import type { GrpcClient, GrpcStream } from '../grpc/client.js';
import { statusText } from '../grpc/status.js';
import type { StreamLogPlan } from '../plan/log-service.js';
import { nodeBytes } from '../stats/node-bytes.js';
import { KeptEntries } from './kept-entries.js';
import { lengthDelimited, type EntrySender, type SenderHost } from './sender-host.js';

const METHOD = '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs';
const STATS = 'access_logs.grpc_access_log.';
// Of StreamAccessLogsMessage.
const IDENTIFIER = 1;
const HTTP_LOGS = 2;
const TCP_LOGS = 3;

export class StreamSender implements EntrySender {
  readonly #field: number;
  readonly #client: GrpcClient;
  readonly #host: SenderHost;
  readonly #identifier: Buffer;
  readonly #kept: KeptEntries;
  #stream: GrpcStream | undefined;
  #isDown = false;

  /** The client is the sender's own. */
  constructor(plan: StreamLogPlan, client: GrpcClient, host: SenderHost) {
    this.#field = plan.isTcp ? TCP_LOGS : HTTP_LOGS;
    this.#client = client;
    this.#host = host;
    this.#kept = new KeptEntries(
      (bytes) => host.onWaiting(bytes),
      () => this.#sendKept(),
      plan.flushMs,
    );
    this.#identifier = lengthDelimited(
      IDENTIFIER,
      lengthDelimited(1, nodeBytes(host.sender)),
      ...(plan.logName === '' ? [] : [lengthDelimited(2, Buffer.from(plan.logName))]),
    );
  }

  send(entries: Buffer, count: number): void {
    if (this.#kept.count === 0 && this.#isThere) {
      this.#write(entries, count);
      return;
    }
    this.#kept.keep(entries, count);
    this.#sendKept();
  }

  close(): void {
    this.#kept.close();
    this.#stream?.end();
    this.#client.close();
  }

  get #isThere(): boolean {
    return this.#stream !== undefined || this.#client.isThere;
  }

  #sendKept(): void {
    const { count } = this.#kept;
    if (this.#isThere) this.#write(this.#kept.take(), count);
    else this.#host.count(`${STATS}grpc_entries_flush_failed`, count);
  }

  #write(entries: Buffer, count: number): void {
    this.#host.count(`${STATS}grpc_entries_flushed`, count);
    const logs = lengthDelimited(this.#field, entries);
    const isNew = this.#stream === undefined;
    const stream = (this.#stream ??= this.#open());
    const message = isNew ? Buffer.concat([this.#identifier, logs]) : logs;
    this.#host.onWaiting(message.length);
    stream.write(message, () => this.#host.onWaiting(-message.length));
  }

  #open(): GrpcStream {
    const stream = this.#client.open(METHOD, {
      // The answer has no content, and may come at the end alone.
      onMessage: () => undefined,
      onEnd: (status) => {
        if (this.#stream !== stream) return;
        this.#stream = undefined;
        const isDown = status.code !== 'OK';
        if (isDown && !this.#isDown) {
          this.#host.warn(
            `access log service: ${statusText(status)}; entries are lost until it is back`,
          );
        }
        this.#isDown = isDown;
      },
    });
    return stream;
  }
}
