// envoy.filters.http.oauth2
import type {
  envoy_config_core_v3_HttpUri as HttpUri,
  envoy_config_route_v3_HeaderMatcher as HeaderMatcher,
  envoy_extensions_filters_http_oauth2_v3_CookieConfig as CookieConfig,
  envoy_extensions_filters_http_oauth2_v3_CookieConfigs as CookieConfigs,
  envoy_extensions_filters_http_oauth2_v3_OAuth2 as Message,
  envoy_extensions_filters_http_oauth2_v3_OAuth2Config as Config,
  envoy_extensions_filters_http_oauth2_v3_OAuth2Credentials as Credentials,
  envoy_extensions_filters_http_oauth2_v3_OAuth2Credentials_CookieNames as CookieNames,
  envoy_extensions_filters_http_oauth2_v3_OAuth2PerRoute as PerRoute,
  envoy_type_matcher_v3_PathMatcher as PathMatcher,
} from '../../../build/messages.gen.js';
import { compileHttpDataService } from '../../plan/calls/data-service.js';
import { type CompileContext, defineHttpFilter } from '../../plan/extension.js';
import { compileFormat } from '../../plan/format/format.js';
import { compileHeaderMatcher, compileStringMatcher } from '../../plan/match/matchers.js';
import type { Place } from '../../plan/message/place.js';
import { compileSecret } from '../../plan/secret-text.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  OAuth2_AuthType,
  type Format,
  type HeaderMatch,
  type OAuth2,
  type OAuth2Cookie,
  type Service,
  type StringMatch,
  type TextPair,
} from '../../plan/plan.gen.js';

const PACKAGE = 'envoy.extensions.filters.http.oauth2.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.OAuth2`, ['config']);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.OAuth2PerRoute`, ['config']);
const CONFIG = supportedFields<Config>(`${PACKAGE}.OAuth2Config`, [
  'token_endpoint',
  'authorization_endpoint',
  'credentials',
  'redirect_uri',
  'redirect_path_matcher',
  'signout_path',
  'forward_bearer_token',
  'pass_through_matcher',
  'auth_scopes',
  'resources',
  'auth_type',
  'use_refresh_token',
  'default_expires_in',
  'deny_redirect_matcher',
  'default_refresh_token_expires_in',
  'preserve_authorization_header',
  'disable_id_token_set_cookie',
  'retry_policy',
  'disable_access_token_set_cookie',
  'disable_refresh_token_set_cookie',
  'cookie_configs',
  'stat_prefix',
  'end_session_endpoint',
  'csrf_token_expires_in',
  'code_verifier_token_expires_in',
  'disable_token_encryption',
  'allow_failed_matcher',
  'original_request_uri',
  'allowed_redirect_domains',
  'use_access_token_expiry_for_id_token_cookie',
  'forward_id_token',
  'private_key_jwt_config',
  'post_logout_redirect_uri',
  'token_cookie_chunking',
]);
const CREDENTIALS = supportedFields<Credentials>(`${PACKAGE}.OAuth2Credentials`, [
  'client_id',
  'token_secret',
  'hmac_secret',
  'cookie_names',
  'cookie_domain',
]);

const RETRY_ON = '5xx,gateway-error,connect-failure,reset';
const DEFAULT_FLOW_S = 600;
const DEFAULT_REFRESH_S = 604_800;
const DEFAULT_ASSERTION_S = 60;
const DEFAULT_COOKIE_BYTES = 4096;
const DEFAULT_CHUNKS = 16;
const GCM = 'envoy.reloadable_features.oauth2_use_gcm_encryption';
const LEGACY_CBC = 'envoy.reloadable_features.oauth2_legacy_cbc_decrypt_compat';

export const oauth2 = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.oauth2',
  type: FIELDS.type,
  compile(message, place, context) {
    refuseOtherFields(place, message, FIELDS);
    const { config } = message;
    // Routes alone say how.
    if (!config) return { oauth2: { disabled: true } };
    return { oauth2: compile(config, place.field('config'), context) };
  },
  byRoute: {
    type: PER_ROUTE.type,
    compile(message, place, context) {
      refuseOtherFields(place, message, PER_ROUTE);
      return { oauth2: compile(message.config ?? {}, place.field('config'), context) };
    },
  },
});

function compile(config: Config, place: Place, context: CompileContext): OAuth2 {
  refuseOtherFields(place, config, CONFIG);
  checkAuthorization(config, place);
  const { credentials = {} } = config;
  const matchers = (
    name: 'allow_failed_matcher' | 'deny_redirect_matcher' | 'pass_through_matcher',
  ): HeaderMatch[] =>
    (config[name] ?? []).flatMap(
      (matcher: HeaderMatcher, index) =>
        compileHeaderMatcher(matcher, place.field(name).index(index)) ?? [],
    );
  return {
    ...compileEndpoint(config, place, context),
    ...compileCredentials(config, credentials, place, context),
    ...compileLogin(config, place),
    ...compileLogout(config, place),
    ...compileCookies(config, credentials),
    redirect_path: compilePath(config.redirect_path_matcher, place.field('redirect_path_matcher')),
    signout_path: compilePath(config.signout_path, place.field('signout_path')),
    pass_through: matchers('pass_through_matcher'),
    deny_redirect: matchers('deny_redirect_matcher'),
    allow_failed: matchers('allow_failed_matcher'),
    forward_bearer_token: config.forward_bearer_token,
    preserve_authorization_header: config.preserve_authorization_header,
    id_token_header: config.forward_id_token?.header?.toLowerCase(),
    use_refresh_token: config.use_refresh_token ?? true,
    ...compileTimes(config, place),
    disable_access_token_cookie: config.disable_access_token_set_cookie,
    disable_id_token_cookie: config.disable_id_token_set_cookie,
    disable_refresh_token_cookie: config.disable_refresh_token_set_cookie,
    id_token_expires_with_access_token: config.use_access_token_expiry_for_id_token_cookie,
    disable_token_encryption: config.disable_token_encryption,
    encrypts_by_gcm: context.runtime.liveFlag(GCM, false),
    reads_cbc: context.runtime.liveFlag(LEGACY_CBC, true),
    stat_prefix: config.stat_prefix,
  };
}

/** Whose the Authorization header is. */
function checkAuthorization(config: Config, place: Place): void {
  const header = config.forward_id_token?.header?.toLowerCase();
  const claims = [
    config.forward_bearer_token,
    config.preserve_authorization_header,
    header === 'authorization',
  ];
  if (claims.filter(Boolean).length > 1) {
    place.error(
      'invalid OAuth2 configuration: at most one of forward_bearer_token, preserve_authorization_header, or ' +
        'forward_id_token (when forwarding the ID token on the Authorization header) may be set, as they all use ' +
        'the Authorization header',
    );
  }
  if (header?.startsWith(':') || header === 'host') {
    place
      .field('forward_id_token')
      .field('header')
      .error(
        `invalid forward_id_token configuration: header '${config.forward_id_token?.header ?? ''}' can not be used ` +
          'to forward the ID token; pseudo-headers and the Host header are not allowed',
      );
  }
}

function compileEndpoint(
  config: Config,
  place: Place,
  context: CompileContext,
): Pick<OAuth2, 'token_authority' | 'token_path' | 'token_service'> {
  const endpoint: HttpUri = config.token_endpoint ?? {};
  const at = place.field('token_endpoint');
  const { cluster = '' } = endpoint;
  if (!context.clusterNames.has(cluster)) {
    at.field('cluster').warn(`OAuth2 filter: unknown cluster '${cluster}' in config.`);
  }
  const retryPlace = place.field('retry_policy');
  const service: Service = {
    ...compileHttpDataService(endpoint, at, {
      headersPlace: at,
      retry: config.retry_policy && {
        ...config.retry_policy,
        retry_on: config.retry_policy.retry_on || RETRY_ON,
      },
      retryPlace,
    }),
    local_address: context.localAddress,
  };
  const [, host = '', path = ''] = /^(?:[a-z]+:\/\/)?([^/]*)(.*)$/is.exec(endpoint.uri ?? '') ?? [];
  return { token_service: service, token_authority: host, token_path: path === '' ? '/' : path };
}

function compileCredentials(
  config: Config,
  credentials: Credentials,
  place: Place,
  context: CompileContext,
): Partial<OAuth2> {
  const at = place.field('credentials');
  refuseOtherFields(at, credentials, CREDENTIALS);
  const type = config.auth_type ?? 'URL_ENCODED_BODY';
  const usesSecret = type !== 'TLS_CLIENT_AUTH';
  const tokenAt = at.field('token_secret');
  if (!usesSecret && credentials.token_secret) {
    tokenAt.warn('OAuth2 filter: token_secret is ignored when auth_type is TLS_CLIENT_AUTH');
  }
  const token = (): OAuth2['token_secret'] =>
    compileSecret(
      credentials.token_secret ?? {},
      tokenAt,
      context,
      'invalid token secret configuration',
    );
  const jwt = config.private_key_jwt_config ?? {};
  return {
    client_id: credentials.client_id,
    auth_type: OAuth2_AuthType[type],
    ...(usesSecret && { token_secret: token() }),
    hmac_secret: compileSecret(
      credentials.hmac_secret ?? {},
      at.field('hmac_secret'),
      context,
      'invalid HMAC secret configuration',
    ),
    ...(type === 'PRIVATE_KEY_JWT' && {
      assertion: {
        algorithm: jwt.signing_algorithm ?? 'RS256',
        lifetime_s: wholeSeconds(jwt.assertion_lifetime, DEFAULT_ASSERTION_S),
        audience: jwt.assertion_audience || config.token_endpoint?.uri,
      },
    }),
  };
}

function compileLogin(config: Config, place: Place): Partial<OAuth2> {
  const url = config.authorization_endpoint ?? '';
  if (!/^[a-z]+:\/\/(?:[^/?#@]*@)?[^/?#@:][!-~]*$/i.test(url)) {
    place
      .field('authorization_endpoint')
      .error(`OAuth2 filter: invalid authorization endpoint URL '${url}' in config.`, {
        expected: 'https://…',
      });
  }
  const mark = url.indexOf('?');
  const base = mark < 0 ? url : url.slice(0, mark);
  const scopes = config.auth_scopes ?? [];
  const own = [
    ['client_id', config.credentials?.client_id ?? ''],
    ['response_type', 'code'],
    ['scope', urlEncoded((scopes.length > 0 ? scopes : ['user']).join(' '))],
  ] as const;
  const others: TextPair[] = (mark < 0 ? '' : url.slice(mark + 1))
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [, key = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
      return { key, value };
    })
    .filter(({ key }) => own.every(([name]) => name !== key));
  const isBare = mark < 0 && /^[a-z]+:\/\/[^/]*$/i.test(base);
  return {
    authorization_base: isBare ? `${base}/` : base,
    authorization_query: [...others, ...own.map(([key, value]) => ({ key, value }))],
    authorization_suffix: (config.resources ?? [])
      .map((resource) => `&resource=${urlEncoded(resource)}`)
      .join(''),
    redirect_uri: compileUri(config.redirect_uri ?? '', place.field('redirect_uri')),
    ...(config.original_request_uri && {
      original_request_uri: compileUri(
        config.original_request_uri,
        place.field('original_request_uri'),
      ),
    }),
    allowed_redirect_domains: config.allowed_redirect_domains ?? [],
  };
}

function compileLogout(config: Config, place: Place): Partial<OAuth2> {
  const { end_session_endpoint: endpoint = '', post_logout_redirect_uri: after = {} } = config;
  if (endpoint === '') return {};
  if (!config.auth_scopes?.includes('openid')) {
    place
      .field('end_session_endpoint')
      .error('OAuth2 filter: end session endpoint is only supported for OpenID Connect.', {
        expected: 'auth_scopes with openid',
      });
  }
  return {
    end_session_endpoint: endpoint,
    tells_no_post_logout_uri: after.disabled,
    ...(after.uri && {
      post_logout_redirect_uri: compileUri(
        after.uri,
        place.field('post_logout_redirect_uri').field('uri'),
      ),
    }),
  };
}

function compileTimes(config: Config, place: Place): Partial<OAuth2> {
  const seconds = (
    name:
      | 'code_verifier_token_expires_in'
      | 'csrf_token_expires_in'
      | 'default_expires_in'
      | 'default_refresh_token_expires_in',
    otherwise: number,
  ): number => {
    if ((config[name] ?? 0) < 0) {
      place.field(name).error('Invalid duration: Expected positive duration');
    }
    return wholeSeconds(config[name], otherwise);
  };
  return {
    default_expires_s: seconds('default_expires_in', 0),
    default_refresh_token_expires_s: seconds('default_refresh_token_expires_in', DEFAULT_REFRESH_S),
    csrf_token_expires_s: seconds('csrf_token_expires_in', DEFAULT_FLOW_S),
    code_verifier_expires_s: seconds('code_verifier_token_expires_in', DEFAULT_FLOW_S),
  };
}

const SAME_SITE = {
  DISABLED: '',
  STRICT: ';SameSite=Strict',
  LAX: ';SameSite=Lax',
  NONE: ';SameSite=None',
} as const;

/** Names of cookies, in messages and as browsers see them by default. */
const COOKIES = {
  bearer_token: ['bearer_token', 'bearer_token_cookie_config', 'BearerToken'],
  hmac: ['oauth_hmac', 'oauth_hmac_cookie_config', 'OauthHMAC'],
  expires: ['oauth_expires', 'oauth_expires_cookie_config', 'OauthExpires'],
  id_token: ['id_token', 'id_token_cookie_config', 'IdToken'],
  refresh_token: ['refresh_token', 'refresh_token_cookie_config', 'RefreshToken'],
  nonce: ['oauth_nonce', 'oauth_nonce_cookie_config', 'OauthNonce'],
  code_verifier: ['code_verifier', 'code_verifier_cookie_config', 'CodeVerifier'],
} as const satisfies Record<string, readonly [keyof CookieNames, keyof CookieConfigs, string]>;

function compileCookies(config: Config, credentials: Credentials): Partial<OAuth2> {
  const { cookie_names: names = {}, cookie_domain: domain } = credentials;
  const { cookie_configs: configs = {}, token_cookie_chunking: chunking } = config;
  const cookie = (which: keyof typeof COOKIES): OAuth2Cookie => {
    const [name, settings, otherwise] = COOKIES[which];
    const own: CookieConfig = configs[settings] ?? {};
    return {
      name: names[name] || otherwise,
      path: own.path || '/',
      same_site: SAME_SITE[own.same_site ?? 'DISABLED'],
      partitioned: own.partitioned,
    };
  };
  return {
    cookie_domain: domain,
    bearer_token: cookie('bearer_token'),
    hmac: cookie('hmac'),
    expires: cookie('expires'),
    id_token: cookie('id_token'),
    refresh_token: cookie('refresh_token'),
    nonce: cookie('nonce'),
    code_verifier: cookie('code_verifier'),
    ...(chunking && {
      chunks: {
        max_cookie_bytes: chunking.max_cookie_size ?? DEFAULT_COOKIE_BYTES,
        max_chunks: chunking.max_chunks ?? DEFAULT_CHUNKS,
      },
    }),
  };
}

function compilePath(matcher: PathMatcher | undefined, place: Place): StringMatch | undefined {
  return matcher?.path && compileStringMatcher(matcher.path, place.field('path'));
}

function compileUri(text: string, place: Place): Format | undefined {
  const result = compileFormat(text, 'http_log');
  if ('format' in result) return result.format;
  place.error(result.error, { suggestion: result.suggestion });
  return undefined;
}

/** All but letters, digits and "-._~". */
function urlEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function wholeSeconds(durationMs: number | undefined, otherwise: number): number {
  return durationMs === undefined ? otherwise : Math.floor(Math.max(0, durationMs) / 1000);
}
