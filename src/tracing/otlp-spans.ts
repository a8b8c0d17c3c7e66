// Spans as OpenTelemetry reads them (opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest).
import { WireWriter } from '../base/wire.js';
import { versionText } from '../base/version.js';
import {
  BYTES,
  FIXED32,
  FIXED64,
  tag,
  VARINT,
  writeAttribute,
  writeResource,
} from '../otlp/otlp-wire.js';
import { TraceTag_Type as Type } from '../plan/plan.gen.js';
import { tagsOf, type LocalSpans, type TypedTag } from './local-spans.js';
import { hasFlag, type SpanRecord } from './span-record.js';

const SPAN_KIND_SERVER = 2;
const SPAN_KIND_CLIENT = 3;
const STATUS_ERROR = 2;
/** Whether the parent is another process's is known. */
const KNOWS_REMOTE = 0x100;
const IS_REMOTE = 0x200;
const IS_SAMPLED = 1;
/** What a server is to blame for: UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS. */
const FAULTS_OF_SERVERS = new Set(['2', '4', '12', '13', '14', '15']);

export interface OtlpSpans {
  readonly attributes: Readonly<Record<string, string>>;
  readonly hasScope: boolean;
}

export function otlpSpans(
  spans: readonly SpanRecord[],
  local: LocalSpans,
  { attributes, hasScope }: OtlpSpans,
): Uint8Array {
  const out = new WireWriter();
  out.message(tag(1, BYTES), attributes, (resource) => {
    writeResource(resource, attributes);
    resource.message(tag(2, BYTES), spans, (scope) => {
      if (hasScope) writeScope(scope);
      for (const span of spans) {
        scope.message(tag(2, BYTES), span, (to, one) => writeSpan(to, one, local));
      }
    });
  });
  return out.finish();
}

function writeScope(out: WireWriter): void {
  out.message(tag(1, BYTES), undefined, (to) => {
    to.text(tag(1, BYTES), 'envoy');
    to.text(tag(2, BYTES), versionText());
  });
}

const longBytes = (...values: readonly bigint[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, index) => bytes.writeBigUInt64BE(value, 8 * index));
  return bytes;
};

function writeSpan(out: WireWriter, span: SpanRecord, local: LocalSpans): void {
  const isClient = hasFlag(span, 'child');
  const tags = tagsOf(span, local);
  out.bytes(tag(1, BYTES), longBytes(span.traceHigh, span.traceLow));
  out.bytes(tag(2, BYTES), longBytes(span.id));
  if (span.state !== '') out.text(tag(3, BYTES), span.state);
  if (hasFlag(span, 'hasParent')) out.bytes(tag(4, BYTES), longBytes(span.parent));
  out.text(tag(5, BYTES), span.name);
  out.number(tag(6, VARINT), isClient ? SPAN_KIND_CLIENT : SPAN_KIND_SERVER);
  const begin = BigInt(span.startUs) * 1000n;
  out.fixed64(tag(7, FIXED64), begin);
  out.fixed64(tag(8, FIXED64), begin + BigInt(span.durationUs) * 1000n);
  for (const [name, { value, type }] of tags) {
    writeAttribute(out, 9, name, (any) => writeValue(any, value, type));
  }
  for (const { name, atUs } of span.events) {
    out.message(tag(11, BYTES), name, (to) => {
      to.fixed64(tag(1, FIXED64), BigInt(atUs) * 1000n);
      to.text(tag(2, BYTES), name);
    });
  }
  writeStatus(out, tags, isClient);
  const remote = hasFlag(span, 'remoteParent') ? IS_REMOTE : 0;
  out.fixed32(tag(16, FIXED32), IS_SAMPLED | KNOWS_REMOTE | remote);
}

/** By what gRPC says, or else by HTTP; nothing is said of what went well. */
function writeStatus(
  out: WireWriter,
  tags: ReadonlyMap<string, TypedTag>,
  isClient: boolean,
): void {
  const grpc = tags.get('grpc.status_code')?.value;
  const http = Number(tags.get('http.status_code')?.value ?? 0);
  const isFault =
    (grpc !== undefined && (isClient ? grpc !== '0' : FAULTS_OF_SERVERS.has(grpc))) ||
    http >= (isClient ? 400 : 500);
  if (!isFault && grpc === undefined) return;
  out.message(tag(15, BYTES), isFault, (to) => {
    if (isFault) to.number(tag(3, VARINT), STATUS_ERROR);
  });
}

/** What is not of its type stays a text. */
function writeValue(out: WireWriter, value: string, type: number): void {
  if (type === Type.INT && /^[+-]?\d{1,15}$/.test(value)) {
    out.number(tag(3, VARINT), Number(value));
  } else if (type === Type.DOUBLE && value.trim() !== '' && Number.isFinite(Number(value))) {
    out.double(tag(4, FIXED64), Number(value));
  } else if (type === Type.BOOL && /^(?:true|t|yes|y|1)$/i.test(value)) {
    out.number(tag(2, VARINT), 1);
  } else if (type === Type.BOOL && /^(?:false|f|no|n|0)$/i.test(value)) {
    out.number(tag(2, VARINT), 0);
  } else {
    out.text(tag(1, BYTES), value);
  }
}
