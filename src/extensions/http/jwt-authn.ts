// envoy.filters.http.jwt_authn
import type {
  envoy_extensions_filters_http_jwt_authn_v3_FilterStateRule as FilterStateRule,
  envoy_extensions_filters_http_jwt_authn_v3_JwtAuthentication as Message,
  envoy_extensions_filters_http_jwt_authn_v3_JwtClaimToHeader as ClaimToHeader,
  envoy_extensions_filters_http_jwt_authn_v3_JwtProvider as ProviderMessage,
  envoy_extensions_filters_http_jwt_authn_v3_JwtRequirement as RequirementMessage,
  envoy_extensions_filters_http_jwt_authn_v3_PerRouteConfig as PerRoute,
  envoy_extensions_filters_http_jwt_authn_v3_RequirementRule as Rule,
} from '../../../build/messages.gen.js';
import { nearestName } from '../../base/suggest.js';
import { defineHttpFilter, type CompileContext } from '../../plan/extension.js';
import { compileJwks } from '../../plan/jwt/jwks.js';
import { compileRemoteJwks } from '../../plan/jwt/remote-jwks.js';
import { compileStringMatcher } from '../../plan/match/matchers.js';
import { readTextSource } from '../../plan/message/data-source.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  JwtRequirement_Kind as Kind,
  type JwtAuthn,
  type JwtNamedRequirement,
  type JwtProvider,
  type JwtRequirement,
  type JwtRule,
} from '../../plan/plan.gen.js';
import { compileTargetMatch } from '../../plan/route/route.js';

const PACKAGE = 'envoy.extensions.filters.http.jwt_authn.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.JwtAuthentication`, [
  'providers',
  'rules',
  'filter_state_rules',
  'bypass_cors_preflight',
  'requirement_map',
  'strip_failure_response',
  'stat_prefix',
]);
const PROVIDER = supportedFields<ProviderMessage>(`${PACKAGE}.JwtProvider`, [
  'issuer',
  'audiences',
  'remote_jwks',
  'local_jwks',
  'forward',
  'from_headers',
  'from_params',
  'forward_payload_header',
  'payload_in_metadata',
  'clock_skew_seconds',
  'pad_forward_payload_header',
  'jwt_cache_config',
  'from_cookies',
  'header_in_metadata',
  'claim_to_headers',
  'failed_status_in_metadata',
  'clear_route_cache',
  'normalize_payload_in_metadata',
  'subjects',
  'require_expiration',
  'max_lifetime',
]);
const REQUIREMENT = supportedFields<RequirementMessage>(`${PACKAGE}.JwtRequirement`, [
  'provider_name',
  'provider_and_audiences',
  'requires_any',
  'requires_all',
  'allow_missing_or_failed',
  'allow_missing',
  'extract_only_without_validation',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.PerRouteConfig`, [
  'disabled',
  'requirement_name',
]);

const DEFAULT_CACHE_SIZE = 100;
const DEFAULT_CACHED_BYTES = 4096;

/** Names of providers, in their order, and the context. */
interface Scope {
  readonly names: readonly string[];
  readonly context: CompileContext;
}

export const jwtAuthn = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.jwt_authn',
  type: FIELDS.type,
  compile: (config, place, context) => ({ jwt_authn: compile(config, place, context) }),
  byRoute: {
    type: PER_ROUTE.type,
    compile(config, place) {
      refuseOtherFields(place, config, PER_ROUTE);
      return { jwt_authn: { disabled: config.disabled, requirement: config.requirement_name } };
    },
  },
});

function compile(config: Message, place: Place, context: CompileContext): JwtAuthn {
  refuseOtherFields(place, config, FIELDS);
  const providers = Object.entries(config.providers ?? {});
  const scope = { names: providers.map(([name]) => name), context };
  const named = compileNamed(config.requirement_map, place.field('requirement_map'), scope);
  return {
    providers: providers.map(([name, provider]) =>
      compileProvider(name, provider, place.field('providers').key(name), context),
    ),
    requirements: named,
    rules: (config.rules ?? []).map((rule, index) =>
      compileRule(rule, place.field('rules').index(index), scope, named),
    ),
    ...compileStateRules(config.filter_state_rules, place.field('filter_state_rules'), scope),
    bypasses_preflights: config.bypass_cors_preflight,
    strips_reasons: config.strip_failure_response,
    stat_prefix: config.stat_prefix,
  };
}

function compileProvider(
  name: string,
  config: ProviderMessage,
  place: Place,
  context: CompileContext,
): JwtProvider {
  refuseOtherFields(place, config, PROVIDER);
  const { from_headers: headers = [], from_params: params = [] } = config;
  const cookies = config.from_cookies ?? [];
  const isElsewhere = headers.length + params.length + cookies.length > 0;
  const cache = config.jwt_cache_config;
  return {
    name,
    issuer: config.issuer,
    audiences: config.audiences ?? [],
    subjects: config.subjects && compileStringMatcher(config.subjects, place.field('subjects')),
    require_expiration: config.require_expiration,
    max_lifetime_s:
      config.max_lifetime === undefined ? undefined : Math.floor(config.max_lifetime / 1000),
    clock_skew_s: config.clock_skew_seconds,
    from_headers: isElsewhere
      ? headers.map(({ name: header = '', value_prefix: prefix }) => ({
          name: header.toLowerCase(),
          prefix,
        }))
      : [{ name: 'authorization', prefix: 'Bearer ' }],
    from_params: isElsewhere ? params : ['access_token'],
    from_cookies: cookies,
    forward: config.forward,
    forward_payload_header: config.forward_payload_header?.toLowerCase(),
    pads_payload: config.pad_forward_payload_header,
    payload_in_metadata: config.payload_in_metadata,
    header_in_metadata: config.header_in_metadata,
    failed_status_in_metadata: config.failed_status_in_metadata,
    space_delimited_claims: config.normalize_payload_in_metadata?.space_delimited_claims ?? [],
    claim_headers: (config.claim_to_headers ?? []).map((claim) => ({
      header: claim.header_name?.toLowerCase(),
      path: claimPath(claim),
    })),
    clears_route: config.clear_route_cache,
    ...(cache && {
      cache_size: cache.jwt_cache_size || DEFAULT_CACHE_SIZE,
      cache_max_token_bytes: cache.jwt_max_token_size || DEFAULT_CACHED_BYTES,
    }),
    ...compileKeys(name, config, place, context),
  };
}

function claimPath({ claim_name: name = '', claim_path: path = [] }: ClaimToHeader): string[] {
  return path.length > 0 ? path.map(({ key = '' }) => key) : name.split('.');
}

function compileKeys(
  name: string,
  config: ProviderMessage,
  place: Place,
  context: CompileContext,
): Pick<JwtProvider, 'local' | 'remote' | 'cache_duration_ms'> {
  if (config.remote_jwks) {
    const at = place.field('remote_jwks');
    const source = compileRemoteJwks(config.remote_jwks, at, context);
    if (!/^https?:\/\/[^/?#]/i.test(source.uri)) {
      at.field('http_uri')
        .field('uri')
        .error(`Provider '${name}' has an invalid URI: '${source.uri}'`);
    }
    return {
      remote: context.addJwks(source),
      // As the real server: keys that come by themselves are good until others come.
      cache_duration_ms: source.ahead ? Number.MAX_SAFE_INTEGER : source.cacheMs,
    };
  }
  if (!config.local_jwks) return {};
  const at = place.field('local_jwks');
  const text = readTextSource(config.local_jwks, at);
  if (text === undefined || text === '') return {};
  const keys = compileJwks(text);
  if (typeof keys !== 'string') return { local: keys };
  at.error(`Provider '${name}' in jwt_authn config has invalid local jwks: ${keys}`);
  return {};
}

function compileRule(
  rule: Rule,
  place: Place,
  scope: Scope,
  named: readonly JwtNamedRequirement[],
): JwtRule {
  const match = compileTargetMatch(rule.match ?? {}, place.field('match'));
  if (rule.requirement_name !== undefined) {
    const found = named.find(({ name }) => name === rule.requirement_name);
    if (!found) {
      const names = named.map(({ name }) => name).join(',');
      place
        .field('requirement_name')
        .error(`Wrong requirement_name: ${rule.requirement_name}. It should be one of [${names}]`);
    }
    return { match, requirement: found?.requirement };
  }
  if (!rule.requires) return { match };
  return { match, requirement: compileRequirement(rule.requires, place.field('requires'), scope) };
}

function compileNamed(
  requirements: Readonly<Record<string, RequirementMessage>> | undefined,
  place: Place,
  scope: Scope,
): JwtNamedRequirement[] {
  return Object.entries(requirements ?? {}).map(([name, requirement]) => ({
    name,
    requirement: compileRequirement(requirement, place.key(name), scope),
  }));
}

function compileStateRules(
  rules: FilterStateRule | undefined,
  place: Place,
  scope: Scope,
): Pick<JwtAuthn, 'filter_state' | 'filter_state_rules'> {
  if (!rules) return {};
  return {
    filter_state: rules.name,
    filter_state_rules: compileNamed(rules.requires, place.field('requires'), scope),
  };
}

function compileRequirement(
  message: RequirementMessage,
  place: Place,
  scope: Scope,
): JwtRequirement {
  refuseOtherFields(place, message, REQUIREMENT);
  const { provider_and_audiences: both, requires_any: any, requires_all: all } = message;
  const parts = (list: readonly RequirementMessage[] | undefined, name: string): JwtRequirement[] =>
    (list ?? []).map((one, index) =>
      compileRequirement(one, place.field(name).field('requirements').index(index), scope),
    );
  const everybody = scope.names.map((_, index) => index);
  if (message.provider_name !== undefined) {
    const at = place.field('provider_name');
    return { kind: Kind.PROVIDER, providers: find(message.provider_name, at, scope) };
  }
  if (both) {
    const at = place.field('provider_and_audiences').field('provider_name');
    const { audiences = [] } = both;
    return {
      kind: Kind.PROVIDER,
      providers: find(both.provider_name ?? '', at, scope),
      audiences,
      has_audiences: audiences.length > 0,
    };
  }
  if (any) return { kind: Kind.ANY, parts: parts(any.requirements, 'requires_any') };
  if (all) return { kind: Kind.ALL, parts: parts(all.requirements, 'requires_all') };
  if (message.allow_missing_or_failed) {
    return { kind: Kind.MISSING_OR_FAILED, providers: everybody };
  }
  if (message.allow_missing) return { kind: Kind.MISSING, providers: everybody };
  if (message.extract_only_without_validation) {
    const header = message.extract_only_without_validation.verification_status_header;
    return { kind: Kind.EXTRACT_ONLY, providers: everybody, status_header: header?.toLowerCase() };
  }
  return { kind: Kind.NONE };
}

function find(name: string, place: Place, { names }: Scope): number[] {
  const index = names.indexOf(name);
  if (index >= 0) return [index];
  place.error(`Required provider ['${name}'] is not configured.`, {
    suggestion: nearestName(name, names),
  });
  return [];
}
