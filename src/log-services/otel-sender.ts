// OpenTelemetry's logs: each message is a call of LogsService, or a request of OTLP over HTTP.
import type { GrpcClient } from '../grpc/client.js';
import { unawaited } from '../base/bugs.js';
import type { OtelLogPlan } from '../plan/log-service.js';
import type { OtlpHttpSender } from '../otlp/otlp-senders.js';
import { KeptEntries } from './kept-entries.js';
import { lengthDelimited, type EntrySender, type SenderHost } from './sender-host.js';

const METHOD = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';

export class OtelSender implements EntrySender {
  readonly #plan: OtelLogPlan;
  readonly #way: GrpcClient | OtlpHttpSender;
  readonly #host: SenderHost;
  readonly #resource: Buffer;
  readonly #kept: KeptEntries;
  #isDown = false;

  /** The way is the sender's own. */
  constructor(plan: OtelLogPlan, way: GrpcClient | OtlpHttpSender, host: SenderHost) {
    this.#plan = plan;
    this.#way = way;
    this.#host = host;
    this.#resource = resourceBytes(plan, host);
    this.#kept = new KeptEntries(
      (bytes) => host.onWaiting(bytes),
      () => {
        if (this.#kept.isFull) this.#sendKept();
      },
      plan.flushMs,
    );
  }

  /** As the real server: what nobody can be posted to waits for what comes next, if anything does. */
  send(entries: Buffer, count: number): void {
    if (this.#mayGo && this.#kept.count === 0) {
      this.#export(entries, count);
      return;
    }
    this.#kept.keep(entries, count);
    this.#sendKept();
  }

  get #mayGo(): boolean {
    return 'open' in this.#way || this.#way.isThere;
  }

  #sendKept(): void {
    if (!this.#mayGo) return;
    const all = this.#kept.count;
    this.#export(this.#kept.take(), all);
  }

  close(): void {
    this.#kept.close();
    this.#way.close();
  }

  #export(entries: Buffer, count: number): void {
    // ExportLogsServiceRequest.resource_logs: the resource, and the scope's logs.
    const message = lengthDelimited(1, this.#resource, lengthDelimited(2, entries));
    this.#host.onWaiting(message.length);
    if ('open' in this.#way) this.#call(this.#way, message, count);
    else unawaited('a request of OTLP', this.#post(this.#way, message, count));
  }

  #call(client: GrpcClient, message: Buffer, count: number): void {
    let rejected = 0;
    const stream = client.open(METHOD, {
      onMessage: (answer) => (rejected = rejectedOf(answer)),
      onEnd: (status) => {
        const lost = status.code === 'OK' ? Math.min(rejected, count) : count;
        this.#counted(message, count, lost, status.code);
      },
    });
    stream.write(message, () => undefined);
    stream.end();
  }

  async #post(sender: OtlpHttpSender, message: Buffer, count: number): Promise<void> {
    const fault = await sender.send(message);
    this.#counted(message, count, fault === undefined ? 0 : count, fault ?? '');
  }

  #counted(message: Buffer, count: number, lost: number, reason: string): void {
    this.#host.onWaiting(-message.length);
    const { statPrefix } = this.#plan;
    if (lost < count) this.#host.count(`${statPrefix}logs_written`, count - lost);
    // What a service of gRPC has answered is counted, whatever it is.
    const isTold = lost > 0 || 'open' in this.#way;
    if (isTold) this.#host.count(`${statPrefix}logs_dropped`, lost);
    if (lost > 0 && !this.#isDown) {
      this.#host.warn(`OpenTelemetry logs: ${reason}; records are lost until it is back`);
    }
    this.#isDown = lost > 0;
  }
}

/** ResourceLogs.resource: what this server says of itself, then what the configuration adds. */
function resourceBytes({ logName, resource }: OtelLogPlan, { sender }: SenderHost): Buffer {
  const { node } = sender;
  const own: (readonly [string, string])[] =
    logName === undefined
      ? []
      : [
          ['log_name', logName],
          ['zone_name', node.locality?.zone ?? ''],
          ['cluster_name', node.cluster ?? ''],
          ['node_name', node.id ?? ''],
        ];
  // One that is named again has its later value in its earlier place.
  const attributes = new Map<string, Uint8Array>(
    own.map(([key, text]) => [key, lengthDelimited(1, Buffer.from(text))]),
  );
  for (const { key, value } of resource) attributes.set(key, value);
  const fields = [...attributes].map(([key, value]) =>
    lengthDelimited(1, lengthDelimited(1, Buffer.from(key)), lengthDelimited(2, value)),
  );
  return lengthDelimited(1, ...fields);
}

/** ExportLogsServiceResponse.partial_success.rejected_log_records. */
function rejectedOf(answer: Buffer): number {
  // A tag of one byte, a short length, then the number's own tag: all else is nothing that is known.
  if (answer[0] !== 0x0a || answer[2] !== 0x08) return 0;
  let rejected = 0;
  let scale = 1;
  for (let at = 3; at < answer.length && at < 13; at++, scale *= 128) {
    const byte = answer[at] ?? 0;
    rejected += (byte & 0x7f) * scale;
    if (byte < 0x80) break;
  }
  return rejected;
}
