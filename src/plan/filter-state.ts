// Values of the filter state that filters make by formats.
import type { envoy_extensions_filters_common_set_filter_state_v3_FilterStateValue as Value } from '../../build/messages.gen.js';
import type { CompileContext } from './extension.js';
import { compileReadFormat, readFormatString } from './format-string/format-string.js';
import type { FormatUse } from './format/format.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import { FilterStateValue_Kind as Kind, type FilterStateValue } from './plan.gen.js';
import { nameOr } from './message/open-enum.js';

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

/** Hosts may be chosen by such texts, and those that are shared keep requests apart. */
const HASHABLE = 'envoy.hashable_string';
/** What makes values, and of which kind. */
const FACTORIES: readonly (readonly [string, Kind])[] = [
  ['envoy.string', Kind.TEXT],
  [HASHABLE, Kind.TEXT],
  ['envoy.bool', Kind.BOOL],
  ['envoy.network.ip', Kind.IP],
  ['envoy.network.network_namespace', Kind.UNTOLD_TEXT],
  ['envoy.network.transport_socket.original_dst_address', Kind.ADDRESS],
  ['envoy.network.upstream_server_name', Kind.UNTOLD_TEXT],
  ['envoy.network.upstream_subject_alt_names', Kind.UNTOLD_TEXT],
  ['envoy.network.application_protocols', Kind.PROTOCOLS],
  ['envoy.upstream.dynamic_host', Kind.TEXT],
  ['envoy.upstream.dynamic_port', Kind.UINT32],
  ['envoy.ratelimit.hits_addend', Kind.UINT32],
  ['envoy.ai.model.request', Kind.SOME_TEXT],
  ['envoy.router.debug_config', Kind.SILENT_TRUE],
  ['envoy.tcp_proxy.cluster', Kind.UNTOLD_TEXT],
  ['envoy.tcp_proxy.per_connection_idle_timeout_ms', Kind.UINT64],
];
/** What is asked of connections alone by such keys. */
const OF_CONNECTIONS: ReadonlyMap<string, Kind> = new Map([
  ...FACTORIES,
  ['envoy.tls.cert_validator.spiffe.workload_trust_domain', Kind.TEXT],
]);
/** And of requests alone. */
const OF_REQUESTS: ReadonlyMap<string, Kind> = new Map([
  ...FACTORIES,
  ['envoy.filters.listener.original_dst.local_ip', Kind.ADDRESS],
  ['envoy.filters.listener.original_dst.remote_ip', Kind.ADDRESS],
  ['envoy.tcp_proxy.disable_tunneling', Kind.IS_TRUE],
]);

/** `use`: of whose formats. */
export function compileStateValues(
  values: readonly Value[] | undefined,
  place: Place,
  use: FormatUse,
  context: CompileContext | undefined,
): FilterStateValue[] {
  return (values ?? []).map((value, index) =>
    compileValue(value, place.index(index), use, context),
  );
}

function compileValue(
  value: Value,
  place: Place,
  use: FormatUse,
  context: CompileContext | undefined,
): FilterStateValue {
  refuseOtherFields(place, value, VALUE);
  const { object_key: key = '', factory_key: factory = '' } = value;
  const maker = factory === '' ? key : factory;
  const kind = (use === 'tcp_log' ? OF_CONNECTIONS : OF_REQUESTS).get(maker);
  if (kind === undefined) {
    const at = place.field(factory === '' ? 'object_key' : 'factory_key');
    if (maker.startsWith('envoy.')) at.error(`filter state of '${maker}' is not supported yet`);
    else
      at.error(`'${maker}' does not have an object factory`, {
        expected: 'factory_key: envoy.string',
      });
  }
  const shared = nameOr(value.shared_with_upstream, 'NONE');
  const read = readFormatString(value.format_string ?? {}, place.field('format_string'), context);
  const format = read && compileReadFormat(read, use);
  return {
    key,
    ...(format && { value: format }),
    skips_empty: value.skip_if_empty,
    read_only: value.read_only,
    kind,
    is_shared: shared !== 'NONE',
    goes_on: shared === 'TRANSITIVE',
    is_hashable: maker === HASHABLE,
  };
}
