// Spans as Datadog's agent reads them (/v0.4/traces): lists of the spans of a request each.
import { randomUUID } from 'node:crypto';
import { versionText } from '../base/version.js';
import type { ExporterPlan } from '../plan/tracer-plans.js';
import { tagsOf, type LocalSpans } from './local-spans.js';
import { MsgpackWriter } from './msgpack.js';
import { hasFlag, type SpanRecord } from './span-record.js';

type Plan = Extract<ExporterPlan, { kind: 'datadog' }>;

const RUNTIME_ID = randomUUID();
const KEEP = 1;

/** Each trace begins with the request's own span. */
export function datadogTraces(
  traces: readonly (readonly SpanRecord[])[],
  local: LocalSpans,
  plan: Plan,
): Uint8Array {
  const out = new MsgpackWriter();
  out.array(traces.length);
  for (const spans of traces) {
    out.array(spans.length);
    for (const span of spans) writeSpan(out, span, local, plan);
  }
  return out.finish();
}

function writeSpan(out: MsgpackWriter, span: SpanRecord, local: LocalSpans, plan: Plan): void {
  const tags = tagsOf(span, local);
  const isError = tags.get('error')?.value === 'true';
  out.map(12);
  const text = (name: string, value: string): void => {
    out.text(name);
    out.text(value);
  };
  const number = (name: string, value: bigint): void => {
    out.text(name);
    out.unsigned(value);
  };
  text('service', plan.service);
  text('name', 'envoy.proxy');
  text('resource', span.name);
  number('trace_id', span.traceLow);
  number('span_id', span.id);
  number('parent_id', hasFlag(span, 'hasParent') ? span.parent : 0n);
  number('start', BigInt(span.startUs) * 1000n);
  number('duration', BigInt(span.durationUs) * 1000n);
  out.text('error');
  out.signed(isError ? 1 : 0);
  writeMeta(out, metaOf(span, tags, plan));
  writeMetrics(out, span);
  text('type', 'web');
}

function metaOf(
  span: SpanRecord,
  tags: ReturnType<typeof tagsOf>,
  plan: Plan,
): readonly (readonly [string, string])[] {
  const own = [...tags].map(([name, { value }]) => [name, value] as const);
  return [
    ...own,
    ...(hasFlag(span, 'child') ? [] : propagated(span)),
    ['language', 'cpp'],
    ['runtime-id', RUNTIME_ID],
    ['version', plan.version || `envoy ${versionText()}`],
    ...(plan.env === '' ? [] : ([['env', plan.env]] as const)),
    ...(span.origin === '' ? [] : ([['_dd.origin', span.origin]] as const)),
  ];
}

/** What goes along with the whole trace: "key=value,key=value". */
function propagated({ state }: SpanRecord): (readonly [string, string])[] {
  return state.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 ? [[pair.slice(0, at), pair.slice(at + 1)] as const] : [];
  });
}

function writeMeta(out: MsgpackWriter, meta: readonly (readonly [string, string])[]): void {
  const once = new Map(meta);
  out.text('meta');
  out.map(once.size);
  for (const [name, value] of once) {
    out.text(name);
    out.text(value);
  }
}

function writeMetrics(out: MsgpackWriter, span: SpanRecord): void {
  const isDecided = hasFlag(span, 'forced');
  const priority = hasFlag(span, 'dropped') ? (hasFlag(span, 'remoteParent') ? 0 : -1) : KEEP;
  const metrics: [string, number][] = [['process_id', process.pid]];
  if (!hasFlag(span, 'child')) {
    if (!isDecided) metrics.push(['_dd.agent_psr', 1]);
    metrics.push(['_sampling_priority_v1', priority]);
  }
  out.text('metrics');
  out.map(metrics.length);
  for (const [name, value] of metrics) {
    out.text(name);
    out.double(value);
  }
}
