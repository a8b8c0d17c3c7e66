// Statistics as OpenTelemetry reads them (opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest).
import { WireWriter } from '../base/wire.js';
import { BYTES, FIXED64, tag, VARINT, writeResource, writeText } from '../otlp/otlp-wire.js';
import type { Metric } from './metric-families.js';

const DELTA = 1;
const CUMULATIVE = 2;

export interface OtlpMetrics {
  readonly attributes: Readonly<Record<string, string>>;
  /** Before each name, with a dot; empty: nothing. */
  readonly prefix: string;
  readonly hasLabels: boolean;
  readonly countersAreDeltas: boolean;
  readonly histogramsAreDeltas: boolean;
}

export interface Times {
  /** When what is told began, and now. In nanoseconds since 1970. */
  readonly startNs: bigint;
  readonly nowNs: bigint;
}

export function otlpMetrics(
  metrics: readonly Metric[],
  settings: OtlpMetrics,
  times: Times,
): Uint8Array {
  const out = new WireWriter();
  out.message(tag(1, BYTES), metrics, (resource) => {
    writeResource(resource, settings.attributes);
    resource.message(tag(2, BYTES), metrics, (scope) => {
      for (const metric of metrics) {
        scope.message(tag(2, BYTES), metric, (to, one) => writeMetric(to, one, settings, times));
      }
    });
  });
  return out.finish();
}

function writeMetric(out: WireWriter, metric: Metric, settings: OtlpMetrics, times: Times): void {
  const { prefix, countersAreDeltas, histogramsAreDeltas } = settings;
  out.text(tag(1, BYTES), prefix === '' ? metric.name : `${prefix}.${metric.name}`);
  const labels = settings.hasLabels ? metric.labels : [];
  if (metric.kind === 'gauge') {
    out.message(tag(5, BYTES), metric, (to) => {
      to.message(tag(1, BYTES), metric, (point) => {
        writePoint(point, metric.value, labels, undefined, times.nowNs);
      });
    });
  } else if (metric.kind === 'counter') {
    out.message(tag(7, BYTES), metric, (to) => {
      to.message(tag(1, BYTES), metric, (point) => {
        writePoint(point, metric.value, labels, times.startNs, times.nowNs);
      });
      to.number(tag(2, VARINT), countersAreDeltas ? DELTA : CUMULATIVE);
      to.number(tag(3, VARINT), 1);
    });
  } else {
    out.message(tag(9, BYTES), metric, (to) => {
      to.message(tag(1, BYTES), metric, (point) => writeBuckets(point, metric, labels, times));
      to.number(tag(2, VARINT), histogramsAreDeltas ? DELTA : CUMULATIVE);
    });
  }
}

type Labels = Metric['labels'];

/** NumberDataPoint */
function writePoint(
  out: WireWriter,
  value: number,
  labels: Labels,
  startNs: bigint | undefined,
  nowNs: bigint,
): void {
  if (startNs !== undefined) out.fixed64(tag(2, FIXED64), startNs);
  out.fixed64(tag(3, FIXED64), nowNs);
  out.fixed64(tag(6, FIXED64), value);
  for (const [name, text] of labels) writeText(out, 7, name, text);
}

/** HistogramDataPoint: how many values are within each bucket, and beyond the last. */
function writeBuckets(
  out: WireWriter,
  { count, sum, bounds, counts }: Extract<Metric, { kind: 'histogram' }>,
  labels: Labels,
  { startNs, nowNs }: Times,
): void {
  out.fixed64(tag(2, FIXED64), startNs);
  out.fixed64(tag(3, FIXED64), nowNs);
  out.fixed64(tag(4, FIXED64), count);
  out.double(tag(5, FIXED64), sum);
  const within = [...counts, count].map((below, index) => below - (counts[index - 1] ?? 0));
  const bucketBytes = Buffer.alloc(8 * within.length);
  within.forEach((own, index) => bucketBytes.writeBigUInt64LE(BigInt(Math.max(0, own)), 8 * index));
  out.bytes(tag(6, BYTES), bucketBytes);
  const boundBytes = Buffer.alloc(8 * bounds.length);
  bounds.forEach((bound, index) => boundBytes.writeDoubleLE(bound, 8 * index));
  out.bytes(tag(7, BYTES), boundBytes);
  for (const [name, text] of labels) writeText(out, 9, name, text);
}
