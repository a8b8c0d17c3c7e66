// Values of the filter state that filters make by formats.
import type {
  envoy_config_core_v3_SubstitutionFormatString as FormatString,
  envoy_extensions_filters_common_set_filter_state_v3_FilterStateValue as Value,
} from '../../build/messages.gen.js';
import { compileFormat, type FormatUse } from './format/format.js';
import { readTextSource } from './message/data-source.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import type { FilterStateValue, Format } from './plan.gen.js';

const VALUE = supportedFields<Value>(
  'envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue',
  [
    'object_key',
    'factory_key',
    'format_string',
    'read_only',
    'shared_with_upstream',
    'skip_if_empty',
  ],
);
const FORMAT = supportedFields<FormatString>('envoy.config.core.v3.SubstitutionFormatString', [
  'text_format',
  'text_format_source',
  'omit_empty_values',
]);

/** Hosts may be chosen by such texts, and those that are shared keep requests apart. */
const HASHABLE = 'envoy.hashable_string';
/** What makes plain texts, and what clusters ask for by those keys. */
const FACTORIES: readonly string[] = [
  'envoy.string',
  HASHABLE,
  'envoy.network.upstream_server_name',
  'envoy.network.transport_socket.original_dst_address',
];
/** What is asked of connections by those keys. */
const OF_CONNECTIONS: readonly string[] = [
  ...FACTORIES,
  'envoy.tcp_proxy.cluster',
  'envoy.tls.cert_validator.spiffe.workload_trust_domain',
  'envoy.tcp_proxy.per_connection_idle_timeout_ms',
];

/** `use`: of whose formats. */
export function compileStateValues(
  values: readonly Value[] | undefined,
  place: Place,
  use: FormatUse,
): FilterStateValue[] {
  return (values ?? []).map((value, index) => compileValue(value, place.index(index), use));
}

function compileValue(value: Value, place: Place, use: FormatUse): FilterStateValue {
  refuseOtherFields(place, value, VALUE);
  const { object_key: key = '', factory_key: factory = '' } = value;
  const maker = factory === '' ? key : factory;
  const known = use === 'tcp_log' ? OF_CONNECTIONS : FACTORIES;
  if (!known.includes(maker)) {
    const at = place.field(factory === '' ? 'object_key' : 'factory_key');
    if (maker.startsWith('envoy.')) at.error(`filter state of '${maker}' is not supported yet`);
    else
      at.error(`'${maker}' does not have an object factory`, {
        expected: 'factory_key: envoy.string',
      });
  }
  const isShared = (value.shared_with_upstream ?? 'NONE') !== 'NONE';
  const format = compileText(value.format_string ?? {}, place.field('format_string'), use);
  return {
    key,
    ...(format && { value: format }),
    skips_empty: value.skip_if_empty,
    read_only: value.read_only,
    is_shared: isShared,
    goes_on: value.shared_with_upstream === 'TRANSITIVE',
    is_hashable: maker === HASHABLE,
  };
}

/** Undefined after an error. */
function compileText(message: FormatString, place: Place, use: FormatUse): Format | undefined {
  refuseOtherFields(place, message, FORMAT);
  const text = message.text_format_source
    ? readTextSource(message.text_format_source, place.field('text_format_source'))
    : (message.text_format ?? '');
  if (text === undefined) return undefined;
  const result = compileFormat(text, use);
  if ('format' in result) return { ...result.format, omit_empty: message.omit_empty_values };
  place.error(result.error, { suggestion: result.suggestion });
  return undefined;
}
