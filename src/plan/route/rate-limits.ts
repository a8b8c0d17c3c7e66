// What of a request makes the descriptors that rate limits know it by.
import type {
  envoy_config_core_v3_TypedExtensionConfig as TypedExtension,
  envoy_config_route_v3_RateLimit as RateLimitMessage,
  envoy_config_core_v3_Metadata as Metadata,
  envoy_config_route_v3_RateLimit_Action as Action,
  envoy_config_route_v3_RateLimit_Action_MetaData as MetaData,
  envoy_config_route_v3_RateLimit_HitsAddend as HitsAddendMessage,
  envoy_config_route_v3_RateLimit_Override as Override,
  envoy_type_metadata_v3_MetadataKey as MetadataKey,
} from '../../../build/messages.gen.js';
import { compileCidrRanges } from '../address/address.js';
import type { CompileContext } from '../extension.js';
import { compileFormat } from '../format/format.js';
import { metadataValues, PATH_SEPARATOR } from '../format/metadata-values.js';
import { HTTP_INPUTS } from '../match/http-tree.js';
import { compileHeaderMatcher, compileQueryMatcher, requestHeaderName } from '../match/matchers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import {
  RateLimit_XRateLimit,
  RateLimitAction_Kind as Kind,
  type HitsAddend,
  type LimitOverride,
  type RateLimit,
  type RateLimitAction,
} from '../plan.gen.js';
import { nameOr } from '../message/open-enum.js';

const PACKAGE = 'envoy.config.route.v3.RateLimit';
const LOCAL_LIMIT = supportedFields<RateLimitMessage>(PACKAGE, [
  'stage',
  'disable_key',
  'actions',
  'hits_addend',
  'apply_on_stream_done',
  'x_ratelimit_option',
]);
const LIMIT = supportedFields<RateLimitMessage>(PACKAGE, [
  'stage',
  'disable_key',
  'actions',
  'limit',
  'hits_addend',
  'apply_on_stream_done',
  'x_ratelimit_option',
]);
const OVERRIDE = supportedFields<Override>(`${PACKAGE}.Override`, ['dynamic_metadata']);
const METADATA = supportedFields<MetaData>(`${PACKAGE}.Action.MetaData`, [
  'descriptor_key',
  'metadata_key',
  'default_value',
  'source',
  'skip_if_absent',
]);
const ACTION = supportedFields<Action>(`${PACKAGE}.Action`, [
  'source_cluster',
  'destination_cluster',
  'request_headers',
  'remote_address',
  'generic_key',
  'header_value_match',
  'masked_remote_address',
  'query_parameter_value_match',
  'query_parameters',
  'remote_address_match',
  'metadata',
  'dynamic_metadata',
  'extension',
]);
// Values are texts here, as in the real server, so that no default is ever needed.
const GENERIC = supportedFields<NonNullable<Action['generic_key']>>(
  `${PACKAGE}.Action.GenericKey`,
  ['descriptor_value', 'descriptor_key', 'default_value'],
);
const HEADERS = supportedFields<NonNullable<Action['header_value_match']>>(
  `${PACKAGE}.Action.HeaderValueMatch`,
  ['descriptor_value', 'descriptor_key', 'expect_match', 'headers', 'default_value'],
);
const QUERY = supportedFields<NonNullable<Action['query_parameter_value_match']>>(
  `${PACKAGE}.Action.QueryParameterValueMatch`,
  ['descriptor_value', 'descriptor_key', 'expect_match', 'query_parameters', 'default_value'],
);
const ADDRESS = supportedFields<NonNullable<Action['remote_address_match']>>(
  `${PACKAGE}.Action.RemoteAddressMatch`,
  ['descriptor_value', 'descriptor_key', 'address_matcher', 'default_value'],
);

const IPV4_BITS = 32;
const IPV6_BITS = 128;

/** The filter: what routes ask of rate limits is meant for it. */
export const LOCAL_RATELIMIT = 'envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit';

/** Its like that asks a service. */
export const RATELIMIT = 'envoy.extensions.filters.http.ratelimit.v3.RateLimit';

/** Where limits stand, which says what they may have. */
export interface LimitUse {
  /**
   * Of a route or a virtual host: for filters of either kind. Of a local filter itself, or of one that
   * asks a service.
   */
  readonly of: 'route' | 'local' | 'service';
  /** Of the route. */
  readonly metadata?: Metadata | undefined;
}

export function compileRateLimits(
  limits: readonly RateLimitMessage[] | undefined,
  place: Place,
  context: CompileContext,
  use: LimitUse,
): RateLimit[] {
  return (limits ?? []).flatMap((limit, index) => {
    const at = place.index(index);
    refuseOtherFields(at, limit, use.of === 'local' ? LOCAL_LIMIT : LIMIT);
    const actions = (limit.actions ?? []).flatMap(
      (action, i) => compileAction(action, at.field('actions').index(i), context, use) ?? [],
    );
    if (use.of === 'route') warnOfOwnFields(limit, at);
    else checkOwnLimit(limit, at);
    return [{ stage: limit.stage, actions, ...compileLimit(limit, at, context, use) }];
  });
}

function checkOwnLimit(limit: RateLimitMessage, place: Place): void {
  if (limit.stage || limit.disable_key) {
    place.error("'stage' field and 'disable_key' field are not supported");
  }
}

/** As the real server has it: only filters' own limits, and those that routes configure them with. */
function warnOfOwnFields(limit: RateLimitMessage, place: Place): void {
  for (const field of ['hits_addend', 'x_ratelimit_option'] as const) {
    if (!limit[field] || limit[field] === 'UNSPECIFIED') continue;
    place.field(field).warn('has no effect here', {
      expected: `rate_limits of ${RATELIMIT}PerRoute`,
    });
  }
}

function compileLimit(
  limit: RateLimitMessage,
  place: Place,
  { runtime }: CompileContext,
  use: LimitUse,
): Omit<RateLimit, 'stage' | 'actions'> {
  const key = limit.disable_key;
  return {
    override: compileOverride(limit.limit, place.field('limit')),
    ...(key && {
      enabled: runtime.liveMillionths(`ratelimit.${key}.http_filter_enabled`, { numerator: 100 }),
    }),
    at_end: limit.apply_on_stream_done,
    ...(use.of !== 'route' && {
      hits: compileHits(limit.hits_addend, place.field('hits_addend')),
      tells_limit: RateLimit_XRateLimit[nameOr(limit.x_ratelimit_option, 'UNSPECIFIED')],
    }),
  };
}

function compileOverride(override: Override | undefined, place: Place): LimitOverride | undefined {
  if (!override) return undefined;
  refuseOtherFields(place, override, OVERRIDE);
  return metadataPlace(override.dynamic_metadata?.metadata_key);
}

const metadataPlace = (
  key: MetadataKey | undefined,
): { metadata_namespace: string; metadata_path: string } => ({
  metadata_namespace: key?.key ?? '',
  metadata_path: (key?.path ?? []).map((segment) => segment.key ?? '').join(PATH_SEPARATOR),
});

function compileHits(message: HitsAddendMessage | undefined, place: Place): HitsAddend | undefined {
  if (!message) return undefined;
  const hits = { is_negative: message.is_negative_hits };
  if (!message.format) return { ...hits, number: message.number ?? 0 };
  const result = compileFormat(message.format, 'header');
  if (!('error' in result)) return { ...hits, format: result.format };
  place.field('format').error(result.error, result);
  return undefined;
}

/** Undefined after an error. */
function compileAction(
  action: Action,
  place: Place,
  context: CompileContext,
  use: LimitUse,
): RateLimitAction | undefined {
  refuseOtherFields(place, action, ACTION);
  if (action.metadata) return compileMetadata(action.metadata, place.field('metadata'), use);
  if (action.dynamic_metadata) {
    return compileMetadata(action.dynamic_metadata, place.field('dynamic_metadata'), use);
  }
  if (action.source_cluster) {
    return { kind: Kind.TEXT, key: 'source_cluster', value: context.serviceCluster };
  }
  if (action.destination_cluster) {
    return { kind: Kind.DESTINATION_CLUSTER, key: 'destination_cluster' };
  }
  if (action.request_headers) {
    const { header_name: name, descriptor_key: key, skip_if_absent } = action.request_headers;
    const header = requestHeaderName(name);
    return { kind: Kind.HEADER, key, name: header, skips_if_absent: skip_if_absent };
  }
  if (action.query_parameters) {
    const { query_parameter_name: name, descriptor_key: key } = action.query_parameters;
    const { skip_if_absent } = action.query_parameters;
    return { kind: Kind.QUERY_PARAMETER, key, name, skips_if_absent: skip_if_absent };
  }
  if (action.remote_address) return { kind: Kind.REMOTE_ADDRESS, key: 'remote_address' };
  if (action.masked_remote_address) {
    const { v4_prefix_mask_len: v4, v6_prefix_mask_len: v6 } = action.masked_remote_address;
    return {
      kind: Kind.REMOTE_ADDRESS,
      key: 'masked_remote_address',
      ipv4_bits: v4 ?? IPV4_BITS,
      ipv6_bits: v6 ?? IPV6_BITS,
    };
  }
  if (action.extension) return compileExtension(action.extension, place.field('extension'));
  return compileMatch(action, place);
}

/** An input of trees of matchers: what it is told of the request is the value. */
function compileExtension(
  { name, typed_config: config }: TypedExtension,
  place: Place,
): RateLimitAction | undefined {
  const input = HTTP_INPUTS.get(config?.$type ?? '');
  const at = place.field('typed_config');
  if (!config || !input) {
    at.error(
      `the rate limit descriptor '${name ?? ''}' (${config?.$type ?? ''}) is not supported yet`,
      {
        expected: `one of ${[...HTTP_INPUTS.keys()].join(', ')}`,
      },
    );
    return undefined;
  }
  return { kind: Kind.INPUT, key: name, input: input(config, at) };
}

/** What has a value of the configuration's. */
function compileMatch(action: Action, place: Place): RateLimitAction | undefined {
  const { generic_key: generic, header_value_match: headers } = action;
  const { query_parameter_value_match: query, remote_address_match: address } = action;
  if (generic) {
    refuseOtherFields(place.field('generic_key'), generic, GENERIC);
    return {
      kind: Kind.TEXT,
      key: generic.descriptor_key || 'generic_key',
      value: generic.descriptor_value,
    };
  }
  if (headers) {
    const at = place.field('header_value_match');
    refuseOtherFields(at, headers, HEADERS);
    return {
      kind: Kind.HEADERS_MATCH,
      key: headers.descriptor_key || 'header_match',
      value: headers.descriptor_value,
      inverts: headers.expect_match === false,
      headers: (headers.headers ?? []).flatMap(
        (one, index) => compileHeaderMatcher(one, at.field('headers').index(index)) ?? [],
      ),
    };
  }
  if (query) {
    const at = place.field('query_parameter_value_match');
    refuseOtherFields(at, query, QUERY);
    return {
      kind: Kind.QUERY_MATCH,
      key: query.descriptor_key || 'query_match',
      value: query.descriptor_value,
      inverts: query.expect_match === false,
      queries: (query.query_parameters ?? []).flatMap(
        (one, index) => compileQueryMatcher(one, at.field('query_parameters').index(index)) ?? [],
      ),
    };
  }
  if (address) {
    const at = place.field('remote_address_match');
    refuseOtherFields(at, address, ADDRESS);
    const matcher = address.address_matcher ?? {};
    const ranges = at.field('address_matcher').field('ranges');
    return {
      kind: Kind.ADDRESS_MATCH,
      key: address.descriptor_key || 'remote_address_match',
      value: address.descriptor_value,
      ...compileMatchValue(address.descriptor_value ?? ''),
      otherwise: address.default_value,
      inverts: matcher.invert_match,
      ranges: compileCidrRanges(matcher.ranges, ranges),
    };
  }
  return undefined;
}

function compileMetadata(message: MetaData, place: Place, use: LimitUse): RateLimitAction {
  refuseOtherFields(place, message, METADATA);
  const isOfRoute = message.source === 'ROUTE_ENTRY';
  const { metadata_namespace, metadata_path } = metadataPlace(message.metadata_key);
  return {
    kind: Kind.METADATA,
    key: message.descriptor_key,
    metadata_namespace,
    metadata_path,
    is_of_route: isOfRoute,
    route_metadata: isOfRoute
      ? metadataValues(use.metadata?.filter_metadata?.[metadata_namespace] ?? {})
      : [],
    otherwise: message.default_value,
    skips_if_absent: message.skip_if_absent,
  };
}

/** A format, where there is one in it. As in the real server, what is none stays a text. */
function compileMatchValue(value: string): Pick<RateLimitAction, 'format'> {
  if (!value.includes('%')) return {};
  const result = compileFormat(value, 'header');
  return 'error' in result ? {} : { format: result.format };
}
