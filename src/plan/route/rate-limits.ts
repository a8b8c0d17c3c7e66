// What of a request makes the descriptors that rate limits know it by.
import type {
  envoy_config_route_v3_RateLimit as RateLimitMessage,
  envoy_config_route_v3_RateLimit_Action as Action,
} from '../../../build/messages.gen.js';
import { compileCidrRanges } from '../address/address.js';
import type { CompileContext } from '../extension.js';
import { compileHeaderMatcher, compileQueryMatcher, requestHeaderName } from '../match/matchers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { RateLimitAction_Kind as Kind, type RateLimit, type RateLimitAction } from '../plan.gen.js';

const PACKAGE = 'envoy.config.route.v3.RateLimit';
const LIMIT = supportedFields<RateLimitMessage>(PACKAGE, ['stage', 'disable_key', 'actions']);
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
]);
const GENERIC = supportedFields<NonNullable<Action['generic_key']>>(
  `${PACKAGE}.Action.GenericKey`,
  ['descriptor_value', 'descriptor_key'],
);
const HEADERS = supportedFields<NonNullable<Action['header_value_match']>>(
  `${PACKAGE}.Action.HeaderValueMatch`,
  ['descriptor_value', 'descriptor_key', 'expect_match', 'headers'],
);
const QUERY = supportedFields<NonNullable<Action['query_parameter_value_match']>>(
  `${PACKAGE}.Action.QueryParameterValueMatch`,
  ['descriptor_value', 'descriptor_key', 'expect_match', 'query_parameters'],
);
const ADDRESS = supportedFields<NonNullable<Action['remote_address_match']>>(
  `${PACKAGE}.Action.RemoteAddressMatch`,
  ['descriptor_value', 'descriptor_key', 'address_matcher'],
);

const IPV4_BITS = 32;
const IPV6_BITS = 128;

/** The filter: what routes ask of rate limits is meant for it. */
export const LOCAL_RATELIMIT = 'envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit';

/** Those that a local limit looks at: what a runtime key may turn off is not for it. */
export function compileRateLimits(
  limits: readonly RateLimitMessage[] | undefined,
  place: Place,
  context: CompileContext,
): RateLimit[] {
  return (limits ?? []).flatMap((limit, index) => {
    const at = place.index(index);
    refuseOtherFields(at, limit, LIMIT);
    const actions = (limit.actions ?? []).flatMap(
      (action, i) => compileAction(action, at.field('actions').index(i), context) ?? [],
    );
    return limit.disable_key ? [] : [{ stage: limit.stage, actions }];
  });
}

/** Undefined after an error. */
function compileAction(
  action: Action,
  place: Place,
  context: CompileContext,
): RateLimitAction | undefined {
  refuseOtherFields(place, action, ACTION);
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
  return compileMatch(action, place);
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
      inverts: matcher.invert_match,
      ranges: compileCidrRanges(matcher.ranges, ranges),
    };
  }
  return undefined;
}
