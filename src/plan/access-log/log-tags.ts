// Custom tags of log entries: where each has its value from.
import type {
  envoy_type_metadata_v3_MetadataKey as MetadataKey,
  envoy_type_tracing_v3_CustomTag as CustomTag,
} from '../../../build/messages.gen.js';
import { compileFormat } from '../format/format.js';
import { PATH_SEPARATOR } from '../format/metadata-values.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import {
  FormatPiece_MetadataSource as Source,
  FormatPiece_Operator as Operator,
  type Format,
  type FormatPiece,
  type LogTag,
} from '../plan.gen.js';

// The type of a value is for spans alone.
const TAG = supportedFields<CustomTag>('envoy.type.tracing.v3.CustomTag', [
  'tag',
  'literal',
  'environment',
  'request_header',
  'metadata',
  'value',
  'value_type',
]);

export function compileLogTags(tags: readonly CustomTag[] | undefined, place: Place): LogTag[] {
  return (tags ?? []).flatMap((tag, index) => compileTag(tag, place.index(index)) ?? []);
}

function compileTag(tag: CustomTag, place: Place): LogTag | undefined {
  refuseOtherFields(place, tag, TAG);
  const name = tag.tag ?? '';
  if (tag.value !== undefined) {
    const result = compileFormat(tag.value, 'http_log');
    if ('format' in result) return { name, value: { ...result.format, omit_empty: true } };
    place.field('value').error(result.error, result);
    return undefined;
  }
  if (tag.literal) return { name, value: of({ argument: tag.literal.value ?? '' }) };
  if (tag.environment) {
    const { name: variable = '', default_value: fallback = '' } = tag.environment;
    return { name, value: of({ argument: process.env[variable] ?? fallback }) };
  }
  if (tag.request_header) {
    const { name: header = '', default_value: fallback } = tag.request_header;
    const lower = header.toLowerCase();
    const argument = lower === 'host' ? ':authority' : lower;
    return { name, value: of({ operator: Operator.REQ, argument }), fallback };
  }
  if (!tag.metadata) return undefined;
  const { kind, metadata_key: key, default_value: fallback } = tag.metadata;
  const piece: FormatPiece = { argument: key?.key, alternative: pathOf(key) };
  const source = kind?.route
    ? Source.ROUTE
    : kind?.cluster
      ? Source.CLUSTER
      : kind?.host
        ? Source.UPSTREAM_HOST
        : undefined;
  const value =
    source === undefined
      ? { ...piece, operator: Operator.DYNAMIC_METADATA }
      : { ...piece, operator: Operator.METADATA, metadata_source: source };
  return { name, value: of(value), fallback };
}

const pathOf = (key: MetadataKey | undefined): string =>
  (key?.path ?? []).map((segment) => segment.key ?? '').join(PATH_SEPARATOR);

const of = (piece: FormatPiece): Format => ({ pieces: [piece], omit_empty: true });
