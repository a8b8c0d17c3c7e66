// A trace as its sink wants it, from the bytes of an envoy.data.tap.v3.TraceWrapper.
import { decodeMessage } from '../config/decode.js';
import { readBinaryAny } from '../config/formats/pb.js';
import { isObject, type PlainObject } from '../config/values/objects.js';
import { printMessage } from '../config/print.js';
import { schema, type MessageType } from '../config/schema/schema.js';
import type { TraceFormat } from '../plan/match/tap.js';

const TYPE = 'envoy.data.tap.v3.TraceWrapper';
const BODIES = ['body', 'request_body_chunk', 'response_body_chunk'];

export function formatTrace(bytes: Buffer, traceId: bigint, format: TraceFormat): Buffer {
  if (format === 'PROTO_BINARY') return bytes;
  if (format === 'PROTO_BINARY_LENGTH_DELIMITED') {
    return Buffer.concat([varint(bytes.length), bytes]);
  }
  const type = schema().getMessage(TYPE);
  const trace = decodeTrace(type, bytes);
  if (format === 'PROTO_TEXT') return Buffer.from(textLines(type, trace, traceId).join(''));
  if (format === 'JSON_BODY_AS_STRING') nameBodiesAsText(trace);
  const printed = printMessage(schema(), type, trace, { defaults: 'unset' });
  return Buffer.from(`${JSON.stringify(withId(printed, traceId), null, 1)}\n`);
}

/** What a file of that format is called. */
export function traceExtension(format: TraceFormat): string {
  switch (format) {
    case 'PROTO_BINARY':
      return 'pb';
    case 'PROTO_BINARY_LENGTH_DELIMITED':
      return 'pb_length_delimited';
    case 'PROTO_TEXT':
      return 'pb_text';
    default:
      return 'json';
  }
}

function decodeTrace(type: MessageType, bytes: Buffer): PlainObject {
  const { any } = readBinaryAny(schema(), {
    type_url: `type.googleapis.com/${TYPE}`,
    value: bytes.toString('base64'),
  });
  const { '@type': _, ...value } = any;
  return decodeMessage(schema(), type, value).message as PlainObject;
}

/** Numbers of 64 bits do not fit a number of JavaScript's. */
function withId(printed: PlainObject, traceId: bigint): PlainObject {
  const segment = printed['http_streamed_trace_segment'];
  if (isObject(segment)) segment['trace_id'] = String(traceId);
  return printed;
}

function nameBodiesAsText(message: PlainObject): void {
  for (const [name, value] of Object.entries(message)) {
    if (!isObject(value)) continue;
    if (BODIES.includes(name) && value['as_bytes'] instanceof Uint8Array) {
      value['as_string'] = Buffer.from(value['as_bytes']).toString();
      delete value['as_bytes'];
    } else {
      nameBodiesAsText(value);
    }
  }
}

/** Protobuf's text format. */
function textLines(type: MessageType, message: PlainObject, traceId: bigint): string[] {
  return type.fields.flatMap((field) => {
    const value = message[field.name];
    const items = Array.isArray(value) ? (value as readonly unknown[]) : [value];
    return items.flatMap((item) => {
      if (item === undefined || item === '' || item === false) return [];
      if (field.value.kind === 'message') {
        const inner = textLines(field.value.type, item as PlainObject, traceId);
        return [`${field.name} {\n`, ...inner.map((line) => `  ${line}`), '}\n'];
      }
      return [`${field.name}: ${field.name === 'trace_id' ? traceId : textValue(item)}\n`];
    });
  });
}

function textValue(value: unknown): string {
  if (value instanceof Uint8Array) return quoted(Buffer.from(value));
  return typeof value === 'string' ? quoted(Buffer.from(value)) : String(value);
}

const ESCAPES: Readonly<Record<number, string>> = {
  9: '\\t',
  10: '\\n',
  13: '\\r',
  34: '\\"',
  39: "\\'",
  92: '\\\\',
};

function quoted(bytes: Buffer): string {
  let text = '"';
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte < 0x7f;
    text +=
      ESCAPES[byte] ??
      (isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`);
  }
  return `${text}"`;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
