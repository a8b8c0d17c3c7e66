// A request's spans as SkyWalking reads them (skywalking.v3.SegmentObject).
import { WireWriter } from '../base/wire.js';
import type { ExporterPlan } from '../plan/tracer-plans.js';
import { tagsOf, type LocalSpans } from './local-spans.js';
import { hasFlag, type SpanRecord } from './span-record.js';

type Plan = Extract<ExporterPlan, { kind: 'skywalking' }>;

const VARINT = 0;
const BYTES = 2;
const tag = (field: number, type: number): number => (field << 3) | type;

const ENTRY = 0;
const EXIT = 1;
const LAYER_HTTP = 3;
/** What the real server is to SkyWalking. */
const COMPONENT_ENVOY = 9000;

/** The request's own span comes first. */
export function skyWalkingSegment(
  spans: readonly SpanRecord[],
  local: LocalSpans,
  { serviceName, instanceName }: Plan,
): Uint8Array {
  const out = new WireWriter();
  const [own] = spans;
  out.text(tag(1, BYTES), own?.trace ?? '');
  out.text(tag(2, BYTES), own?.segment ?? '');
  for (const span of spans)
    out.message(tag(3, BYTES), span, (to, one) => writeSpan(to, one, local));
  out.text(tag(4, BYTES), serviceName);
  out.text(tag(5, BYTES), instanceName);
  return out.finish();
}

function writeSpan(out: WireWriter, span: SpanRecord, local: LocalSpans): void {
  const isExit = hasFlag(span, 'child');
  const tags = tagsOf(span, local);
  const startMs = Math.floor(span.startUs / 1000);
  out.number(tag(1, VARINT), isExit ? Number(span.id) : 0);
  out.number(tag(2, VARINT), isExit ? 0 : -1);
  out.number(tag(3, VARINT), startMs);
  out.number(tag(4, VARINT), Math.floor((span.startUs + span.durationUs) / 1000));
  if (!isExit && span.state !== '') out.message(tag(5, BYTES), span.state, writeParent);
  out.text(tag(6, BYTES), span.name);
  if (span.peer !== '') out.text(tag(7, BYTES), span.peer);
  out.number(tag(8, VARINT), isExit ? EXIT : ENTRY);
  out.number(tag(9, VARINT), LAYER_HTTP);
  out.number(tag(10, VARINT), COMPONENT_ENVOY);
  if (tags.get('error')?.value === 'true') out.number(tag(11, VARINT), 1);
  for (const [name, { value }] of tags) writePair(out, 12, nameOf(name), value);
  for (const { name, atUs } of span.events) {
    out.message(tag(13, BYTES), name, (to) => {
      to.number(tag(1, VARINT), Math.floor(atUs / 1000));
      writePair(to, 2, 'event', name);
    });
  }
}

/** SkyWalking knows some of them by names of its own. */
function nameOf(name: string): string {
  if (name === 'http.url') return 'url';
  return name === 'http.status_code' ? 'status_code' : name;
}

function writePair(out: WireWriter, field: number, key: string, value: string): void {
  out.message(tag(field, BYTES), value, (to) => {
    to.text(tag(1, BYTES), key);
    to.text(tag(2, BYTES), value);
  });
}

/** The header that came with the request: eight parts, whose texts are base64. */
function writeParent(out: WireWriter, header: string): void {
  const [
    ,
    trace = '',
    segment = '',
    span = '0',
    service = '',
    instance = '',
    endpoint = '',
    peer = '',
  ] = header.split('-');
  const text = (field: number, encoded: string): void =>
    out.text(tag(field, BYTES), Buffer.from(encoded, 'base64').toString());
  text(2, trace);
  text(3, segment);
  out.number(tag(4, VARINT), Number(span));
  text(5, service);
  text(6, instance);
  text(7, endpoint);
  text(8, peer);
}
