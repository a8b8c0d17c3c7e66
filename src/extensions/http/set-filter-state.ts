// envoy.filters.http.set_filter_state
import type {
  envoy_config_core_v3_SubstitutionFormatString as FormatString,
  envoy_extensions_filters_common_set_filter_state_v3_FilterStateValue as Value,
  envoy_extensions_filters_http_set_filter_state_v3_Config as Message,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import { compileFormat } from '../../plan/format/format.js';
import { readTextSource } from '../../plan/message/data-source.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { FilterStateValue, Format, SetFilterState } from '../../plan/plan.gen.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.filters.http.set_filter_state.v3.Config',
  ['on_request_headers', 'clear_route_cache'],
);
// What hosts' connections would share is not kept there.
const VALUE = supportedFields<Value>(
  'envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue',
  ['object_key', 'factory_key', 'format_string', 'read_only', 'skip_if_empty'],
  { shared_with_upstream: 'NONE' },
);
const FORMAT = supportedFields<FormatString>('envoy.config.core.v3.SubstitutionFormatString', [
  'text_format',
  'text_format_source',
  'omit_empty_values',
]);

/** What makes plain texts. */
const FACTORIES: ReadonlySet<string> = new Set(['envoy.string', 'envoy.hashable_string']);

export const setFilterState = defineHttpFilter<Message, Message>({
  name: 'envoy.filters.http.set_filter_state',
  type: FIELDS.type,
  compile: (config, place) => ({ set_filter_state: compile(config, place) }),
  byRoute: {
    type: FIELDS.type,
    compile: (config, place) => ({ set_filter_state: compile(config, place) }),
  },
});

function compile(config: Message, place: Place): SetFilterState {
  refuseOtherFields(place, config, FIELDS);
  return {
    values: (config.on_request_headers ?? []).map((value, index) =>
      compileValue(value, place.field('on_request_headers').index(index)),
    ),
    clears_route: config.clear_route_cache,
  };
}

function compileValue(value: Value, place: Place): FilterStateValue {
  refuseOtherFields(place, value, VALUE);
  const { object_key: key = '', factory_key: factory = '' } = value;
  const maker = factory === '' ? key : factory;
  if (!FACTORIES.has(maker)) {
    const at = place.field(factory === '' ? 'object_key' : 'factory_key');
    if (maker.startsWith('envoy.')) at.error(`filter state of '${maker}' is not supported yet`);
    else
      at.error(`'${maker}' does not have an object factory`, {
        expected: 'factory_key: envoy.string',
      });
  }
  const format = compileText(value.format_string ?? {}, place.field('format_string'));
  return {
    key,
    ...(format && { value: format }),
    skips_empty: value.skip_if_empty,
    read_only: value.read_only,
  };
}

/** Undefined after an error. */
function compileText(message: FormatString, place: Place): Format | undefined {
  refuseOtherFields(place, message, FORMAT);
  const text = message.text_format_source
    ? readTextSource(message.text_format_source, place.field('text_format_source'))
    : (message.text_format ?? '');
  if (text === undefined) return undefined;
  const result = compileFormat(text, 'header');
  if ('format' in result) return { ...result.format, omit_empty: message.omit_empty_values };
  place.error(result.error, { suggestion: result.suggestion });
  return undefined;
}
