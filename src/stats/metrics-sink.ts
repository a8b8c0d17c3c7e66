// envoy.service.metrics.v3.MetricsService: a stream of messages with all metrics of a flush. The
// stream is opened by the first flush, and again by the first after its end.
import type { GrpcClient, GrpcStream } from '../grpc/client.js';
import { statusText, type GrpcStatus } from '../grpc/status.js';
import { atMost } from '../base/patience.js';
import { Outage } from './outage.js';
import type { SinkHost, StatsSink } from './sink.js';
import type { SinkPlan } from '../plan/extension-plans.js';

const METHOD = '/envoy.service.metrics.v3.MetricsService/StreamMetrics';
/** Messages are not longer, so that every server takes them: many refuse 4 MiB. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
/** What a server that does not read may make us keep: as many messages. */
const MAX_WAITING = 64;
/** What a server gets to take the rest. */
const CLOSE_MS = 1000;

export class MetricsSink implements StatsSink {
  readonly #batchSize: number;
  readonly #client: GrpcClient;
  readonly #identifier: Uint8Array;
  readonly #outage: Outage;
  #stream: GrpcStream | undefined;
  /** Of the flush before. */
  #lastStream: GrpcStream | undefined;
  #onLastEnd: () => void = () => undefined;
  #waiting = 0;
  /** Metrics of the message that is being gathered. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;

  /** The client is the sink's own. */
  constructor(
    plan: Extract<SinkPlan, { kind: 'metrics' }>,
    client: GrpcClient,
    identifier: Uint8Array,
    host: SinkHost,
  ) {
    this.#batchSize = plan.batchSize;
    this.#client = client;
    this.#identifier = identifier;
    this.#outage = new Outage('metrics service', host);
  }

  write(piece: Buffer): void {
    if (this.#pieceBytes + piece.length > MAX_MESSAGE_BYTES) this.#send();
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
  }

  end(): void {
    this.#send();
    // A stream takes messages before anybody hears them: one that lasts from flush to flush is heard.
    const lasts = this.#stream !== undefined && this.#stream === this.#lastStream;
    if (lasts && this.#stream?.isConnected) this.#outage.end();
    this.#lastStream = this.#stream;
  }

  async close(): Promise<void> {
    const stream = this.#stream;
    if (stream) {
      // The server answers once it has all.
      const ended = new Promise<void>((resolve) => (this.#onLastEnd = resolve));
      stream.end();
      await atMost(CLOSE_MS, ended);
    }
    this.#client.close();
  }

  #send(): void {
    const metrics = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    for (const batch of inBatches(metrics, this.#batchSize)) this.#sendMessage(batch);
  }

  #sendMessage(metrics: Buffer): void {
    if (metrics.length === 0 || this.#waiting >= MAX_WAITING) return;
    const isNew = this.#stream === undefined;
    this.#stream ??= this.#open();
    this.#waiting++;
    const stream = this.#stream;
    stream.write(isNew ? Buffer.concat([this.#identifier, metrics]) : metrics, () => {
      // Of a stream that has ended since, nothing waits.
      if (this.#stream === stream) this.#waiting--;
    });
  }

  #open(): GrpcStream {
    const stream = this.#client.open(METHOD, {
      // The answer has no content.
      onMessage: () => undefined,
      onEnd: (status) => {
        if (this.#stream === stream) this.#onEnd(status);
      },
    });
    return stream;
  }

  #onEnd(status: GrpcStatus): void {
    this.#stream = undefined;
    this.#waiting = 0;
    if (status.code !== 'OK') this.#outage.begin(statusText(status));
    this.#onLastEnd();
  }
}

/** Records of one field, cut after every `size` of them; 0: not at all. */
export function* inBatches(records: Buffer, size: number): Generator<Buffer> {
  let begin = 0;
  let count = 0;
  for (let at = 0; size > 0 && at < records.length;) {
    // The tag is one byte, the length a varint.
    let length = 0;
    let shift = 0;
    at++;
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      byte = records[at++] ?? 0;
      length += (byte & 0x7f) * 2 ** shift;
    }
    at += length;
    if (++count < size) continue;
    yield records.subarray(begin, at);
    begin = at;
    count = 0;
  }
  if (begin < records.length) yield records.subarray(begin);
}
