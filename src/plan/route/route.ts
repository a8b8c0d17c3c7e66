// Routes: what they match, and what becomes of a request that fits.
import type {
  envoy_config_core_v3_Metadata as Metadata,
  envoy_config_core_v3_TypedExtensionConfig as TypedExtension,
  envoy_config_route_v3_CookieMatcher as CookieMatcher,
  envoy_config_route_v3_DirectResponseAction as DirectResponseAction,
  envoy_config_route_v3_Route as RouteMessage,
  envoy_config_core_v3_RuntimeFractionalPercent as RuntimeFraction,
  envoy_config_route_v3_RouteMatch as RouteMatchMessage,
  envoy_extensions_path_match_uri_template_v3_UriTemplateMatchConfig as UriTemplate,
  envoy_type_matcher_v3_FilterStateMatcher as FilterStateMatcher,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { readDataSource, watchedFolder } from '../message/data-source.js';
import { compileCidrRanges } from '../address/address.js';
import { unregistered } from '../known-extensions.js';
import { compileMetadataMatcher } from '../match/metadata.js';
import { compileTemplateRegex, URI_TEMPLATE } from '../match/uri-template.js';
import { compileHeaderMutations } from './header-mutations.js';
import {
  compileHeaderMatcher,
  compileQueryMatcher,
  compileRegexMatcher,
  compileStringMatcher,
} from '../match/matchers.js';
import type { OwnOperators } from '../format/format.js';
import { compileFollowedBody } from '../format-string/body-format.js';
import { compileReplyFormat } from '../format-string/format-string.js';
import { metadataOf, sortedJson } from '../format/metadata-values.js';
import type { Place } from '../message/place.js';
import {
  FormatPiece_Operator,
  RouteMatch_PathKind as PathKind,
  type CookieMatch,
  type DirectResponse,
  type FilterStateMatch,
  type Route,
  type RouteMatch,
} from '../plan.gen.js';
import { compileRedirect } from './redirect.js';
import { compileCorsPolicy } from './cors-policy.js';
import { compileClusterAction } from './route-action.js';
import { compileRateLimits } from './rate-limits.js';
import { compileRouteFilters, compileTryFilters, readFilterOverrides } from './route-filters.js';
import { bodyLimit, type RouteScope } from './route-scope.js';
import { compileDecorator, compileRouteTracing } from '../tracing/tracing.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const ROUTE = supportedFields<RouteMessage>('envoy.config.route.v3.Route', [
  'name',
  'match',
  'route',
  'redirect',
  'direct_response',
  'non_forwarding_action',
  'metadata',
  'decorator',
  'tracing',
  'request_headers_to_add',
  'request_headers_to_remove',
  'response_headers_to_add',
  'response_headers_to_remove',
  'typed_per_filter_config',
  'per_request_buffer_limit_bytes',
  'request_body_buffer_limit',
  'stat_prefix',
]);
const MATCH = supportedFields<RouteMatchMessage>('envoy.config.route.v3.RouteMatch', [
  'prefix',
  'path',
  'safe_regex',
  'connect_matcher',
  'path_separated_prefix',
  'case_sensitive',
  'runtime_fraction',
  'headers',
  'query_parameters',
  'grpc',
  'tls_context',
  'cookies',
  'dynamic_metadata',
  'filter_state',
  'path_match_policy',
]);
const COOKIE = supportedFields<CookieMatcher>('envoy.config.route.v3.CookieMatcher', [
  'name',
  'string_match',
  'invert_match',
]);
const TLS_MATCH = supportedFields<NonNullable<RouteMatchMessage['tls_context']>>(
  'envoy.config.route.v3.RouteMatch.TlsContextMatchOptions',
  ['presented', 'validated'],
);
const DIRECT_RESPONSE = supportedFields<DirectResponseAction>(
  'envoy.config.route.v3.DirectResponseAction',
  ['status', 'body', 'body_format'],
);

/** Undefined after some errors. */
export function compileRoute(
  message: RouteMessage,
  place: Place,
  scope: RouteScope,
): Route | undefined {
  refuseOtherFields(place, message, ROUTE);
  const match = compileMatch(message.match ?? {}, place.field('match'), scope.context);
  const cors = message.route?.cors;
  const policy = cors && compileCorsPolicy(cors, place.field('route').field('cors'), scope.context);
  const own = {
    ...readFilterOverrides(message.typed_per_filter_config, place, scope),
    cors: policy && scope.addFilterConfig({ cors: policy }),
    rateLimits: compileOwnLimits(message, place.field('route'), scope),
  };
  const filterOverrides = [...scope.filterOverrides, own];
  const route = {
    name: message.name,
    stat_prefix: message.stat_prefix,
    match,
    mutations: compileHeaderMutations(message, place, metadataOperator(message.metadata)),
    filters: compileRouteFilters(filterOverrides, scope.chain),
    try_filters: compileTryFilters(filterOverrides),
    tracing:
      message.tracing &&
      compileRouteTracing(message.tracing, place.field('tracing'), scope.context),
    decorator: message.decorator && compileDecorator(message.decorator, place.field('decorator')),
    tag_metadata: scope.context.tagNames.metadataOf('route', message.metadata),
    ...metadataOf(message.metadata),
  };
  if (message.route) {
    const inner = { ...scope, filterOverrides };
    const cluster = compileClusterAction(
      message.route,
      message.match?.path_match_policy,
      place.field('route'),
      inner,
    );
    return { ...route, cluster: { ...cluster, ...(bodyLimit(message) ?? scope.defaults.body) } };
  }
  scope.defaults.mirrors?.forRoute();
  if (message.redirect) {
    return { ...route, redirect: compileRedirect(message.redirect, place.field('redirect')) };
  }
  if (message.direct_response) {
    const at = place.field('direct_response');
    return { ...route, direct_response: compileDirectResponse(message.direct_response, at, scope) };
  }
  // The real server looks for a cluster without a name, too.
  if (message.non_forwarding_action) return { ...route, cluster: { timeout_ms: 0 } };
  return undefined;
}

/** Those of the virtual host, too, where the route includes them; its place among the configs. */
function compileOwnLimits(
  { route: action, metadata }: RouteMessage,
  place: Place,
  scope: RouteScope,
): number | undefined {
  const { rate_limits: limits = [], include_vh_rate_limits: includesHosts = false } = action ?? {};
  const at = place.field('rate_limits');
  const own = compileRateLimits(limits, at, scope.context, { of: 'route', metadata });
  if (limits.length === 0 && !includesHosts) return undefined;
  const hosts = includesHosts ? (scope.defaults.rateLimits ?? []) : [];
  return scope.addFilterConfig({ rate_limits: { limits: [...own, ...hosts] } });
}

export function compileMatch(
  message: RouteMatchMessage,
  place: Place,
  context: CompileContext,
): RouteMatch {
  const tls = message.tls_context ?? {};
  refuseOtherFields(place.field('tls_context'), tls, TLS_MATCH);
  const fraction = message.runtime_fraction;
  return {
    ...compileTargetMatch(message, place),
    grpc: message.grpc !== undefined,
    certificate_presented: tls.presented,
    certificate_validated: tls.validated,
    cookies: (message.cookies ?? []).flatMap(
      (cookie, index) => compileCookie(cookie, place.field('cookies').index(index)) ?? [],
    ),
    metadata: (message.dynamic_metadata ?? []).map((matcher, index) =>
      compileMetadataMatcher(matcher, place.field('dynamic_metadata').index(index)),
    ),
    filter_states: (message.filter_state ?? []).map((matcher, index) =>
      compileFilterState(matcher, place.field('filter_state').index(index)),
    ),
    ...(fraction && compileShare(fraction, context)),
  };
}

/** By what the request's head alone says: as filters match it, which look at nothing else. */
export function compileTargetMatch(message: RouteMatchMessage, place: Place): RouteMatch {
  refuseOtherFields(place, message, MATCH);
  return {
    ...compilePath(message, place),
    ignore_case: message.case_sensitive === false,
    headers: (message.headers ?? []).flatMap(
      (header, index) => compileHeaderMatcher(header, place.field('headers').index(index)) ?? [],
    ),
    query_parameters: (message.query_parameters ?? []).flatMap(
      (query, index) =>
        compileQueryMatcher(query, place.field('query_parameters').index(index)) ?? [],
    ),
  };
}

function compileCookie(message: CookieMatcher, place: Place): CookieMatch | undefined {
  refuseOtherFields(place, message, COOKIE);
  const string_match = compileStringMatcher(
    message.string_match ?? {},
    place.field('string_match'),
  );
  return string_match && { name: message.name, string_match, invert: message.invert_match };
}

function compileFilterState(message: FilterStateMatcher, place: Place): FilterStateMatch {
  const { key, string_match: text, address_match: address } = message;
  return {
    key,
    text: text && compileStringMatcher(text, place.field('string_match')),
    ranges: compileCidrRanges(address?.ranges, place.field('address_match').field('ranges')),
    inverts: address?.invert_match,
  };
}

function compileShare(
  { runtime_key: key, default_value: fallback }: RuntimeFraction,
  { runtime }: CompileContext,
): RouteMatch {
  const { value, slot } = runtime.liveMillionths(key, fallback);
  return { runtime_fraction_millionths: value, runtime_fraction_slot: slot };
}

function compilePath(message: RouteMatchMessage, place: Place): RouteMatch {
  if (message.path !== undefined) return { path_kind: PathKind.EXACT, path: message.path };
  if (message.path_separated_prefix !== undefined) {
    return { path_kind: PathKind.SEPARATED_PREFIX, path: message.path_separated_prefix };
  }
  if (message.safe_regex) {
    const regex = compileRegexMatcher(message.safe_regex, place.field('safe_regex'));
    return { path_kind: PathKind.REGEX, regex };
  }
  if (message.path_match_policy) {
    return compilePathPolicy(message.path_match_policy, place.field('path_match_policy'));
  }
  if (message.connect_matcher) return { path_kind: PathKind.CONNECT };
  return { path_kind: PathKind.PREFIX, path: message.prefix ?? '' };
}

/** A template, as there is no other kind. */
function compilePathPolicy(
  { name = '', typed_config: config }: TypedExtension,
  place: Place,
): RouteMatch {
  const at = place.field('typed_config');
  if (config?.$type !== URI_TEMPLATE) {
    at.error(unregistered(name, config?.$type ?? ''), { expected: URI_TEMPLATE });
    return {};
  }
  const regex = compileTemplateRegex(
    config as UriTemplate,
    at.within(URI_TEMPLATE),
    (template) => `path_match_policy.path_template ${template} is invalid`,
  );
  return { path_kind: PathKind.REGEX, regex };
}

function compileDirectResponse(
  message: DirectResponseAction,
  place: Place,
  scope: RouteScope,
): DirectResponse {
  refuseOtherFields(place, message, DIRECT_RESPONSE);
  const folder = watchedFolder(message.body, place.field('body'));
  const body = readDataSource(message.body, place.field('body')) ?? new Uint8Array();
  if (body.length > scope.maxBodyBytes) {
    place
      .field('body')
      .error(`response body size is ${body.length} bytes; maximum is ${scope.maxBodyBytes}`, {
        expected: 'a shorter body, or a larger max_direct_response_body_size_bytes',
      });
  }
  const format = message.body_format;
  const path = message.body?.filename;
  if (path && folder !== undefined) {
    const file = {
      path,
      watchedDirectory: folder,
      ignoresWrites: true,
      maxBytes: scope.maxBodyBytes,
    };
    const at = place.field('body_format');
    return {
      status: message.status,
      format: compileFollowedBody(format, file, body, at, scope.context),
    };
  }
  return {
    status: message.status,
    body,
    ...(format && {
      format: compileReplyFormat(format, place.field('body_format'), scope.context),
    }),
  };
}

/** %METADATA(ROUTE:filter:key…)%: known when the route is compiled. */
function metadataOperator(metadata: Metadata | undefined): OwnOperators {
  return (name, argument) => {
    const [source, filter = '', ...path] = argument.split(':');
    if (name !== 'METADATA' || source !== 'ROUTE') return undefined;
    let value: unknown = metadata?.filter_metadata?.[filter];
    for (const key of path) {
      value =
        typeof value === 'object' && value !== null
          ? (value as Record<string, unknown>)[key]
          : undefined;
    }
    if (value === undefined || value === null) return { operator: FormatPiece_Operator.ABSENT };
    return { argument: typeof value === 'string' ? value : sortedJson(value) };
  };
}
