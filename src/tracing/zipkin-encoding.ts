// Spans as Zipkin reads them: JSON of its second version, or its protobuf (zipkin.proto3).
import { isIPv6 } from 'node:net';
import { WireWriter } from '../base/wire.js';
import { parseIp } from '../plan/address/ip.js';
import { tagsOf, type LocalSpans } from './local-spans.js';
import { hasFlag, type SpanRecord } from './span-record.js';

const hex = (value: bigint): string => value.toString(16).padStart(16, '0');

interface Annotation {
  readonly value: string;
  readonly timestamp: number;
}

/** In microseconds; Zipkin takes 0 for unknown, and wants less than one rounded up. */
const durationOf = (span: SpanRecord): number => Math.max(span.durationUs, 1);

/** With how it ended: for a server when its answer was sent, for a client when it came. */
function annotationsOf(span: SpanRecord): Annotation[] {
  const timestamp = span.startUs + span.durationUs;
  return [
    ...span.events.map(({ name, atUs }) => ({ value: name, timestamp: atUs })),
    { value: hasFlag(span, 'server') ? 'ss' : 'cr', timestamp },
  ];
}

export function zipkinJson(
  spans: readonly SpanRecord[],
  local: LocalSpans,
  isShared: boolean,
): Buffer {
  return Buffer.from(JSON.stringify(spans.map((span) => jsonOf(span, local, isShared))));
}

function jsonOf(span: SpanRecord, local: LocalSpans, isShared: boolean): object {
  const isServer = hasFlag(span, 'server');
  const tags = [...tagsOf(span, local)].flatMap(([name, { value }]) =>
    value === '' ? [] : [[name, value] as const],
  );
  return {
    traceId: (span.traceHigh === 0n ? '' : hex(span.traceHigh)) + hex(span.traceLow),
    ...(hasFlag(span, 'hasParent') && { parentId: hex(span.parent) }),
    id: hex(span.id),
    kind: isServer ? 'SERVER' : 'CLIENT',
    ...(span.name !== '' && { name: span.name }),
    timestamp: span.startUs,
    duration: durationOf(span),
    localEndpoint: {
      [isIPv6(local.address) ? 'ipv6' : 'ipv4']: local.address,
      port: 0,
      ...(local.serviceCluster !== '' && { serviceName: local.serviceCluster }),
    },
    ...(isShared && isServer && { shared: true }),
    annotations: annotationsOf(span),
    tags: Object.fromEntries(tags),
  };
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const tag = (field: number, type: number): number => (field << 3) | type;

export function zipkinProto(
  spans: readonly SpanRecord[],
  local: LocalSpans,
  isShared: boolean,
): Uint8Array {
  const out = new WireWriter();
  for (const span of spans) {
    out.message(tag(1, BYTES), span, (to, one) => writeSpan(to, one, local, isShared));
  }
  return out.finish();
}

/** As the real server writes them: ids of traces begin with their highest byte, others with their lowest. */
function traceBytes({ traceHigh, traceLow }: SpanRecord): Buffer {
  const bytes = Buffer.alloc(traceHigh === 0n ? 8 : 16);
  if (traceHigh !== 0n) bytes.writeBigUInt64BE(traceHigh);
  bytes.writeBigUInt64BE(traceLow, bytes.length - 8);
  return bytes;
}

function idBytes(id: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(id);
  return bytes;
}

const KIND_CLIENT = 1;
const KIND_SERVER = 2;

function writeSpan(out: WireWriter, span: SpanRecord, local: LocalSpans, isShared: boolean): void {
  const isServer = hasFlag(span, 'server');
  out.bytes(tag(1, BYTES), traceBytes(span));
  if (hasFlag(span, 'hasParent')) out.bytes(tag(2, BYTES), idBytes(span.parent));
  out.bytes(tag(3, BYTES), idBytes(span.id));
  out.number(tag(4, VARINT), isServer ? KIND_SERVER : KIND_CLIENT);
  if (span.name !== '') out.text(tag(5, BYTES), span.name);
  out.fixed64(tag(6, FIXED64), span.startUs);
  out.number(tag(7, VARINT), durationOf(span));
  out.message(tag(8, BYTES), local, (to, { address, serviceCluster }) => {
    if (serviceCluster !== '') to.text(tag(1, BYTES), serviceCluster);
    to.bytes(tag(isIPv6(address) ? 3 : 2, BYTES), parseIp(address) ?? new Uint8Array());
  });
  for (const { value, timestamp } of annotationsOf(span)) {
    out.message(tag(10, BYTES), value, (to, text) => {
      to.fixed64(tag(1, FIXED64), timestamp);
      to.text(tag(2, BYTES), text);
    });
  }
  for (const [name, { value }] of tagsOf(span, local)) {
    if (value === '') continue;
    out.message(tag(11, BYTES), value, (to, text) => {
      to.text(tag(1, BYTES), name);
      to.text(tag(2, BYTES), text);
    });
  }
  if (isShared && isServer) out.number(tag(13, VARINT), 1);
}
