// Reads metrics as the data plane writes them for sinks (io.prometheus.client.MetricFamily, one metric
// each), each behind the tag and length of a repeated field.

export type Metric = {
  readonly name: string;
  readonly labels: readonly (readonly [name: string, value: string])[];
} & (
  | { readonly kind: 'counter'; readonly value: number }
  | { readonly kind: 'gauge'; readonly value: number }
  | {
      readonly kind: 'histogram';
      readonly count: number;
      readonly sum: number;
      /** Ascending; how many values are at or below each. */
      readonly bounds: readonly number[];
      readonly counts: readonly number[];
    }
);

export function* readMetrics(bytes: Buffer): Generator<Metric> {
  for (const { bytes: family } of fieldsOf(bytes)) {
    const metric = metricOf(family);
    if (metric) yield metric;
  }
}

interface Field {
  readonly number: number;
  /** Of a message or a text; empty for others. */
  readonly bytes: Buffer;
  readonly value: number;
}

const NONE = Buffer.alloc(0);

function* fieldsOf(bytes: Buffer): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    let scale = 1;
    for (let byte = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * scale;
    }
    return value;
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = tag >>> 3;
    if ((tag & 7) === 2) {
      const size = varint();
      at += size;
      yield { number, bytes: bytes.subarray(at - size, at), value: 0 };
    } else if ((tag & 7) === 1) {
      at += 8;
      yield { number, bytes: NONE, value: bytes.readDoubleLE(at - 8) };
    } else {
      yield { number, bytes: NONE, value: varint() };
    }
  }
}

function metricOf(family: Buffer): Metric | undefined {
  let name = '';
  let metric: Metric | undefined;
  for (const field of fieldsOf(family)) {
    if (field.number === 1) name = field.bytes.toString();
    if (field.number === 4) metric = valueOf(field.bytes, name);
  }
  return metric;
}

function valueOf(bytes: Buffer, name: string): Metric | undefined {
  const labels: (readonly [string, string])[] = [];
  let metric: Metric | undefined;
  for (const { number, bytes: inner } of fieldsOf(bytes)) {
    if (number === 1) labels.push(labelOf(inner));
    if (number === 2 || number === 3) {
      const kind = number === 2 ? 'gauge' : 'counter';
      const value = [...fieldsOf(inner)].find((field) => field.number === 1)?.value ?? 0;
      metric = { name, labels, kind, value };
    }
    if (number === 7) metric = { name, labels, kind: 'histogram', ...histogramOf(inner) };
  }
  return metric;
}

function labelOf(bytes: Buffer): readonly [string, string] {
  const texts = [...fieldsOf(bytes)].map((field) => field.bytes.toString());
  return [texts[0] ?? '', texts[1] ?? ''];
}

function histogramOf(bytes: Buffer): {
  readonly count: number;
  readonly sum: number;
  readonly bounds: number[];
  readonly counts: number[];
} {
  const histogram = { count: 0, sum: 0, bounds: [] as number[], counts: [] as number[] };
  for (const { number, value, bytes: inner } of fieldsOf(bytes)) {
    if (number === 1) histogram.count = value;
    if (number === 2) histogram.sum = value;
    if (number !== 3) continue;
    let [count, bound] = [0, 0];
    for (const field of fieldsOf(inner)) {
      if (field.number === 1) count = field.value;
      if (field.number === 2) bound = field.value;
    }
    histogram.counts.push(count);
    histogram.bounds.push(bound);
  }
  return histogram;
}
