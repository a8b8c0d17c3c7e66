// What a value of dynamic metadata is to be like.
import type {
  envoy_type_matcher_v3_MetadataMatcher as MetadataMatcher,
  envoy_type_matcher_v3_ValueMatcher as ValueMatcher,
} from '../../../build/messages.gen.js';
import { PATH_SEPARATOR } from '../format/metadata-values.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { MetadataCondition_Value as Value, type MetadataCondition } from '../plan.gen.js';
import { compileStringMatcher } from './matchers.js';

const METADATA = supportedFields<MetadataMatcher>('envoy.type.matcher.v3.MetadataMatcher', [
  'filter',
  'path',
  'value',
  'invert',
]);
const VALUE = supportedFields<ValueMatcher>('envoy.type.matcher.v3.ValueMatcher', [
  'null_match',
  'double_match',
  'string_match',
  'bool_match',
  'present_match',
  'or_match',
  'list_match',
]);
const MILLION = 1_000_000;

export function compileMetadataMatcher(message: MetadataMatcher, place: Place): MetadataCondition {
  refuseOtherFields(place, message, METADATA);
  return {
    metadata_namespace: message.filter,
    metadata_path: (message.path ?? []).map(({ key = '' }) => key).join(PATH_SEPARATOR),
    inverts: message.invert,
    ...compileValueMatcher(message.value ?? {}, place.field('value')),
  };
}

/** Of the value alone. */
export function compileValueMatcher(value: ValueMatcher, place: Place): MetadataCondition {
  refuseOtherFields(place, value, VALUE);
  if (value.string_match) {
    const text = compileStringMatcher(value.string_match, place.field('string_match'));
    return { value: Value.TEXT, text };
  }
  if (value.or_match) {
    const at = place.field('or_match').field('value_matchers');
    const parts = (value.or_match.value_matchers ?? []).map((one, index) =>
      compileValueMatcher(one, at.index(index)),
    );
    return { value: Value.ANY_OF, parts };
  }
  if (value.list_match) {
    const at = place.field('list_match').field('one_of');
    return {
      value: Value.HAS_ELEMENT,
      parts: [compileValueMatcher(value.list_match.one_of ?? {}, at)],
    };
  }
  if (value.null_match) return { value: Value.LITERAL, literal: 'null' };
  if (value.bool_match !== undefined) {
    return { value: Value.LITERAL, literal: String(value.bool_match) };
  }
  if (value.double_match) {
    const { exact, range } = value.double_match;
    if (exact !== undefined) return { value: Value.LITERAL, literal: JSON.stringify(exact) };
    const millionths = (number = 0): number => Math.round(number * MILLION);
    return {
      value: Value.NUMBER,
      first_number: millionths(range?.start),
      end_number: millionths(range?.end),
    };
  }
  // Of what is to be absent there is nothing that fits.
  if (value.present_match === false) return { value: Value.TEXT };
  return { value: Value.PRESENT };
}
