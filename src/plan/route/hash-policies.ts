// What a request's hash is made of, by which balancers find its host again.
import type {
  envoy_config_route_v3_RouteAction_HashPolicy as HashPolicyMessage,
  envoy_config_route_v3_RouteAction_HashPolicy_ConnectionProperties as ConnectionProperties,
  envoy_config_route_v3_RouteAction_HashPolicy_Cookie as Cookie,
  envoy_config_route_v3_RouteAction_HashPolicy_CookieAttribute as CookieAttribute,
  envoy_config_route_v3_RouteAction_HashPolicy_FilterState as FilterState,
  envoy_config_route_v3_RouteAction_HashPolicy_Header as Header,
  envoy_config_route_v3_RouteAction_HashPolicy_QueryParameter as QueryParameter,
} from '../../../build/messages.gen.js';
import { compileRegexRewrite } from '../match/matchers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { CookieHash, HashPolicy, HeaderHash } from '../plan.gen.js';

const NAME = 'envoy.config.route.v3.RouteAction.HashPolicy';
const POLICY = supportedFields<HashPolicyMessage>(NAME, [
  'header',
  'cookie',
  'connection_properties',
  'query_parameter',
  'filter_state',
  'terminal',
]);
const HEADER = supportedFields<Header>(`${NAME}.Header`, ['header_name', 'regex_rewrite']);
const COOKIE = supportedFields<Cookie>(`${NAME}.Cookie`, ['name', 'ttl', 'path', 'attributes']);
const ATTRIBUTE = supportedFields<CookieAttribute>(`${NAME}.CookieAttribute`, ['name', 'value']);
const CONNECTION = supportedFields<ConnectionProperties>(`${NAME}.ConnectionProperties`, [
  'source_ip',
]);
const QUERY = supportedFields<QueryParameter>(`${NAME}.QueryParameter`, ['name']);
const FILTER_STATE = supportedFields<FilterState>(`${NAME}.FilterState`, ['key']);

/** What adds nothing to any request is left out. */
export function compileHashPolicies(
  messages: readonly HashPolicyMessage[] | undefined,
  place: Place,
): HashPolicy[] {
  return (messages ?? []).flatMap((message, index) => {
    const at = place.index(index);
    refuseOtherFields(at, message, POLICY);
    const policy = compilePolicy(message, at);
    return policy ? { ...policy, is_terminal: message.terminal } : [];
  });
}

function compilePolicy(message: HashPolicyMessage, place: Place): HashPolicy | undefined {
  const { header, cookie, query_parameter: query, filter_state: state } = message;
  if (header) return { header: compileHeader(header, place.field('header')) };
  if (cookie) return { cookie: compileCookie(cookie, place.field('cookie')) };
  if (query) {
    refuseOtherFields(place.field('query_parameter'), query, QUERY);
    return { query_parameter: query.name };
  }
  if (state) {
    refuseOtherFields(place.field('filter_state'), state, FILTER_STATE);
    return { filter_state: state.key };
  }
  const connection = message.connection_properties ?? {};
  refuseOtherFields(place.field('connection_properties'), connection, CONNECTION);
  return connection.source_ip ? { source_ip: true } : undefined;
}

function compileHeader(message: Header, place: Place): HeaderHash {
  refuseOtherFields(place, message, HEADER);
  const rewrite = message.regex_rewrite;
  return {
    name: (message.header_name ?? '').toLowerCase(),
    rewrite: rewrite && compileRegexRewrite(rewrite, place.field('regex_rewrite')),
  };
}

function compileCookie(message: Cookie, place: Place): CookieHash {
  refuseOtherFields(place, message, COOKIE);
  const attributes = (message.attributes ?? []).map((attribute, index) => {
    refuseOtherFields(place.field('attributes').index(index), attribute, ATTRIBUTE);
    return attribute.value ? `${attribute.name ?? ''}=${attribute.value}` : (attribute.name ?? '');
  });
  return {
    name: message.name,
    ttl_s: message.ttl === undefined ? undefined : Math.trunc(message.ttl / 1000),
    path: message.path,
    attributes,
  };
}
