// Tags that a configuration adds to spans.
import type {
  envoy_type_metadata_v3_MetadataKey as MetadataKey,
  envoy_type_tracing_v3_CustomTag as CustomTag,
  envoy_type_tracing_v3_CustomTag_Environment as EnvironmentTag,
  envoy_type_tracing_v3_CustomTag_Header as HeaderTag,
  envoy_type_tracing_v3_CustomTag_Metadata as MetadataTag,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { compileFormat } from '../format/format.js';
import { PATH_SEPARATOR } from '../format/metadata-values.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import {
  FormatPiece_Operator as Operator,
  TraceTag_Source as Source,
  TraceTag_Type as Type,
  type Format,
  type TraceTag,
} from '../plan.gen.js';

const TAG = supportedFields<CustomTag>('envoy.type.tracing.v3.CustomTag', [
  'tag',
  'literal',
  'environment',
  'request_header',
  'metadata',
  'value',
  'value_type',
]);
const ENVIRONMENT = supportedFields<EnvironmentTag>('envoy.type.tracing.v3.CustomTag.Environment', [
  'name',
  'default_value',
]);
const HEADER = supportedFields<HeaderTag>('envoy.type.tracing.v3.CustomTag.Header', [
  'name',
  'default_value',
]);
const METADATA = supportedFields<MetadataTag>('envoy.type.tracing.v3.CustomTag.Metadata', [
  'kind',
  'metadata_key',
  'default_value',
]);
const KEY = supportedFields<MetadataKey>('envoy.type.metadata.v3.MetadataKey', ['key', 'path']);

const TYPES = {
  UNSPECIFIED: Type.TEXT,
  STRING: Type.TEXT,
  INT: Type.INT,
  DOUBLE: Type.DOUBLE,
  BOOL: Type.BOOL,
} as const;

type TagContext = Pick<CompileContext, 'tagNames'>;

/** Of two of a name the last counts. */
export function compileCustomTags(
  messages: readonly CustomTag[] | undefined,
  place: Place,
  context: TagContext,
): TraceTag[] {
  const tags = new Map<string, TraceTag>();
  (messages ?? []).forEach((message, index) => {
    const at = place.index(index);
    refuseOtherFields(at, message, TAG);
    const { tag: name = '' } = message;
    const value = compileValue(message, at, context);
    if (value) tags.set(name, { ...value, name, type: TYPES[message.value_type ?? 'UNSPECIFIED'] });
  });
  return [...tags.values()];
}

const literal = (argument: string): Format => ({
  pieces: argument === '' ? [] : [{ operator: Operator.LITERAL, argument }],
});

function compileValue(message: CustomTag, place: Place, context: TagContext): TraceTag | undefined {
  if (message.literal) return { format: literal(message.literal.value ?? '') };
  if (message.environment) {
    refuseOtherFields(place.field('environment'), message.environment, ENVIRONMENT);
    const { name = '', default_value: fallback = '' } = message.environment;
    return { format: literal(process.env[name] ?? fallback) };
  }
  if (message.request_header) {
    refuseOtherFields(place.field('request_header'), message.request_header, HEADER);
    const { name = '', default_value } = message.request_header;
    const argument = name.toLowerCase();
    return { format: { pieces: [{ operator: Operator.REQ, argument }] }, default_value };
  }
  if (message.metadata) {
    return compileMetadata(message.metadata, place.field('metadata'), context);
  }
  const format = compileSpanFormat(message.value ?? '', place.field('value'));
  return format && { format };
}

function compileMetadata(
  message: MetadataTag,
  place: Place,
  { tagNames }: TagContext,
): TraceTag | undefined {
  refuseOtherFields(place, message, METADATA);
  const at = place.field('metadata_key');
  const { metadata_key: key = {}, kind = {}, default_value } = message;
  refuseOtherFields(at, key, KEY);
  const space = key.key ?? '';
  const path = (key.path ?? []).map((segment) => segment.key ?? '').join(PATH_SEPARATOR);
  if (kind.route || kind.cluster || kind.host) {
    const [source, name] = kind.route
      ? ([Source.ROUTE, 'route'] as const)
      : kind.cluster
        ? ([Source.CLUSTER, 'cluster'] as const)
        : ([Source.HOST, 'host'] as const);
    tagNames.add(name, space);
    return { source, space, path, default_value };
  }
  const piece = { operator: Operator.DYNAMIC_METADATA, argument: space, alternative: path };
  return { format: { pieces: [piece] }, default_value };
}

/** What has no value reads as nothing. */
export function compileSpanFormat(text: string, place: Place): Format | undefined {
  const result = compileFormat(text, 'header');
  if ('error' in result) {
    place.error(result.error, result);
    return undefined;
  }
  return { ...result.format, omit_empty: true };
}
