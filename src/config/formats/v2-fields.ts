// Fields that v3 removed, for the formats that read by type: binary and text protobuf.
import type { Field } from './well-known.js';
import type { Schema, ValueType } from '../schema/schema.js';

/** `many` and `map` where the field is one; a message by its v3 name. */
type Row = readonly [name: string, number: number, type: string, label?: 'many' | 'map'];

const STRUCT = 'google.protobuf.Struct';
const TLS = 'envoy.extensions.transport_sockets.tls.v3.';
const ROUTE = 'envoy.config.route.v3.';
const MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

const config = (number: number): readonly Row[] => [['config', number, STRUCT]];
const perFilter = (number: number): readonly Row[] => [
  ['per_filter_config', number, STRUCT, 'map'],
];

const REMOVED: Readonly<Record<string, readonly Row[]>> = {
  'envoy.config.cluster.v3.Cluster': [
    ['hosts', 7, 'envoy.config.core.v3.Address', 'many'],
    ['tls_context', 11, `${TLS}UpstreamTlsContext`],
    ['extension_protocol_options', 35, STRUCT, 'map'],
  ],
  'envoy.config.listener.v3.FilterChain': [['tls_context', 2, `${TLS}DownstreamTlsContext`]],
  'envoy.config.listener.v3.Filter': config(2),
  'envoy.config.listener.v3.ListenerFilter': config(2),
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter': config(2),
  'envoy.config.accesslog.v3.AccessLog': config(3),
  'envoy.config.core.v3.TransportSocket': config(2),
  'envoy.config.metrics.v3.StatsSink': config(2),
  'envoy.config.trace.v3.Tracing.Http': config(2),
  'envoy.config.overload.v3.ResourceMonitor': config(2),
  'envoy.config.core.v3.HealthCheck.CustomHealthCheck': config(2),
  [`${ROUTE}VirtualHost`]: perFilter(12),
  [`${ROUTE}Route`]: perFilter(8),
  [`${ROUTE}WeightedCluster.ClusterWeight`]: perFilter(8),
  [`${ROUTE}RouteMatch`]: [['regex', 3, 'string']],
  [`${ROUTE}HeaderMatcher`]: [['regex_match', 5, 'string']],
  [`${ROUTE}QueryParameterMatcher`]: [
    ['value', 3, 'string'],
    ['regex', 4, 'google.protobuf.BoolValue'],
  ],
  [`${ROUTE}RouteAction`]: [
    ['request_mirror_policy', 10, `${ROUTE}RouteAction.RequestMirrorPolicy`],
  ],
  [`${ROUTE}RouteAction.RequestMirrorPolicy`]: [['runtime_key', 2, 'string']],
  [`${ROUTE}CorsPolicy`]: [
    ['allow_origin', 1, 'string', 'many'],
    ['enabled', 7, 'google.protobuf.BoolValue'],
    ['allow_origin_regex', 8, 'string', 'many'],
  ],
  'envoy.type.matcher.v3.StringMatcher': [['regex', 4, 'string']],
  [MANAGER]: [['idle_timeout', 11, 'google.protobuf.Duration']],
  [`${MANAGER}.Tracing`]: [['request_headers_for_tags', 2, 'string', 'many']],
  [`${TLS}CertificateValidationContext`]: [['verify_subject_alt_name', 4, 'string', 'many']],
  'envoy.config.core.v3.HealthCheck.HttpHealthCheck': [
    ['service_name', 5, 'string'],
    ['use_http2', 7, 'bool'],
  ],
  'envoy.extensions.filters.network.redis_proxy.v3.RedisProxy': [['cluster', 2, 'string']],
};

/** The fields that the v2 form of a message had and v3 has not. */
export function removedFields(schema: Schema, message: string): readonly Field[] {
  const rows: readonly Row[] = Object.hasOwn(REMOVED, message) ? (REMOVED[message] ?? []) : [];
  return rows.map((row): Field => {
    const [name, number, type, label = 'one'] = row;
    const keyType = label === 'map' ? 'string' : undefined;
    const value: ValueType = schema.valueTypeOf(type) ?? schema.valueType(type);
    return { name, number, label, keyType, oneofIndex: undefined, value };
  });
}

/** What an Any holds, by a v3 or v2 name. */
export function typeOfEra(schema: Schema, url: string): ValueType | undefined {
  const name = url.slice(url.lastIndexOf('/') + 1);
  const current = schema.valueTypeOf(name);
  if (current) return current;
  const successor = schema.successorOf(name);
  return successor === undefined ? undefined : schema.valueTypeOf(successor);
}
