// envoy.service.metrics.v3.MetricsService: a stream of messages with all metrics of a flush. The
// stream is opened by the first flush, and again by the first after its end.
import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type ClientWritableStream,
} from '@grpc/grpc-js';
import { Outage } from './outage.js';
import type { SinkHost, StatsSink } from './sink.js';
import type { SinkPlan } from './sink-plan.js';

const METHOD = '/envoy.service.metrics.v3.MetricsService/StreamMetrics';
/** Messages are not longer, so that every server takes them: many refuse 4 MiB. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
/** What a server that does not read may make us keep: as many messages. */
const MAX_WAITING = 64;
/** A server that is back is found so soon; by itself gRPC may take two minutes. */
const MAX_RECONNECT_MS = 5000;

const asIs = (bytes: Buffer): Buffer => bytes;

export class MetricsSink implements StatsSink {
  readonly #plan: Extract<SinkPlan, { kind: 'metrics' }>;
  readonly #identifier: Uint8Array;
  readonly #host: SinkHost;
  readonly #outage: Outage;
  #client: Client | undefined;
  #target = '';
  #stream: ClientWritableStream<Buffer> | undefined;
  /** Of the flush before. */
  #lastStream: ClientWritableStream<Buffer> | undefined;
  #waiting = 0;
  /** Metrics of the message that is being gathered. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;

  constructor(
    plan: Extract<SinkPlan, { kind: 'metrics' }>,
    identifier: Uint8Array,
    host: SinkHost,
  ) {
    this.#plan = plan;
    this.#identifier = identifier;
    this.#host = host;
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
    if (lasts && this.#isConnected()) this.#outage.end();
    this.#lastStream = this.#stream;
  }

  close(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    if (!stream) return Promise.resolve();
    // The server answers once it has all.
    return new Promise((resolve) => {
      stream.once('status', () => resolve());
      stream.end();
    });
  }

  #send(): void {
    const metrics = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    for (const batch of inBatches(metrics, this.#plan.batchSize)) this.#sendMessage(batch);
  }

  #sendMessage(metrics: Buffer): void {
    if (metrics.length === 0 || this.#waiting >= MAX_WAITING) return;
    const isNew = this.#stream === undefined;
    this.#stream ??= this.#open();
    if (!this.#stream) return;
    this.#waiting++;
    const stream = this.#stream;
    stream.write(isNew ? Buffer.concat([this.#identifier, metrics]) : metrics, () => {
      // Of a stream that has ended since, nothing waits.
      if (this.#stream !== stream) return;
      this.#waiting--;
    });
  }

  #isConnected(): boolean {
    return this.#client?.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  #open(): ClientWritableStream<Buffer> | undefined {
    const target = targetOf(this.#host.hostsOf(this.#plan.cluster));
    if (target === undefined) return undefined;
    if (target !== this.#target) {
      this.#client?.close();
      this.#client = new Client(target, credentials.createInsecure(), {
        'grpc.default_authority': this.#plan.authority,
        'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_MS,
      });
      this.#target = target;
    }
    const metadata = new Metadata();
    for (const [name, value] of this.#plan.metadata) metadata.add(name, value);
    const stream = this.#client?.makeClientStreamRequest(METHOD, asIs, asIs, metadata, (error) => {
      if (this.#stream !== stream) return;
      this.#stream = undefined;
      this.#waiting = 0;
      if (error) this.#outage.begin(error.message);
    });
    return stream;
  }
}

/** As gRPC names them; undefined where there are none. */
function targetOf(hosts: ReturnType<SinkHost['hostsOf']>): string | undefined {
  const [first] = hosts;
  if (!first) return undefined;
  if (first.port === 0) return `unix:${first.address}`;
  const isV6 = first.address.includes(':');
  const same = hosts.filter(({ address, port }) => port > 0 && address.includes(':') === isV6);
  const list = same.map(({ address, port }) =>
    isV6 ? `[${address}]:${port}` : `${address}:${port}`,
  );
  return `${isV6 ? 'ipv6' : 'ipv4'}:${list.join(',')}`;
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
