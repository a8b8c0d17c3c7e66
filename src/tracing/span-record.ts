// Finished spans as the data plane hands them over: native/tracing/record.h says how they are written.

export const FLAGS = {
  server: 1,
  hasParent: 2,
  remoteParent: 4,
  child: 8,
  egress: 16,
  forced: 32,
  dropped: 64,
} as const;

export const EVENTS = [
  'last_downstream_rx_byte_received',
  'first_upstream_tx_byte_sent',
  'last_upstream_tx_byte_sent',
  'first_upstream_rx_byte_received',
  'last_upstream_rx_byte_received',
  'first_downstream_tx_byte_sent',
  'last_downstream_tx_byte_sent',
] as const;

/** Of a tag, where a configuration says it: TraceTag_Type. */
export interface SpanTag {
  readonly name: string;
  readonly value: string;
  readonly type: number;
}

export interface SpanEvent {
  readonly name: string;
  readonly atUs: number;
}

export interface SpanRecord {
  readonly tracer: number;
  readonly worker: number;
  readonly flags: number;
  readonly traceHigh: bigint;
  readonly traceLow: bigint;
  readonly id: bigint;
  readonly parent: bigint;
  /** Since 1970. */
  readonly startUs: number;
  readonly durationUs: number;
  readonly name: string;
  readonly state: string;
  readonly peer: string;
  readonly trace: string;
  readonly segment: string;
  readonly origin: string;
  /** Each name once: the last value counts. */
  readonly tags: ReadonlyMap<string, SpanTag>;
  readonly events: readonly SpanEvent[];
}

export const hasFlag = ({ flags }: SpanRecord, flag: keyof typeof FLAGS): boolean =>
  (flags & FLAGS[flag]) !== 0;

/** Of a buffer with whole records. */
export function* readSpans(bytes: Buffer): Generator<SpanRecord> {
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32LE(at);
    yield readSpan(new Reader(bytes, at + 4));
    at += 4 + size;
  }
}

function readSpan(reader: Reader): SpanRecord {
  return {
    tracer: reader.number(),
    worker: reader.number(),
    flags: reader.number(),
    traceHigh: reader.long(),
    traceLow: reader.long(),
    id: reader.long(),
    parent: reader.long(),
    startUs: Number(reader.long()),
    durationUs: Number(reader.long()),
    name: reader.text(),
    state: reader.text(),
    peer: reader.text(),
    trace: reader.text(),
    segment: reader.text(),
    origin: reader.text(),
    tags: readTags(reader),
    events: readEvents(reader),
  };
}

function readTags(reader: Reader): Map<string, SpanTag> {
  const tags = new Map<string, SpanTag>();
  for (let left = reader.number(); left > 0; left--) {
    const type = reader.byte();
    const name = reader.text();
    tags.set(name, { type, name, value: reader.text() });
  }
  return tags;
}

function readEvents(reader: Reader): SpanEvent[] {
  const events: SpanEvent[] = [];
  for (let left = reader.number(); left > 0; left--) {
    const name = EVENTS[reader.byte()] ?? '';
    events.push({ name, atUs: Number(reader.long()) });
  }
  return events;
}

class Reader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  number(): number {
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  long(): bigint {
    this.#at += 8;
    return this.#bytes.readBigUInt64LE(this.#at - 8);
  }

  text(): string {
    const size = this.number();
    this.#at += size;
    return this.#bytes.toString('utf8', this.#at - size, this.#at);
  }
}
