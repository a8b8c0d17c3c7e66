// What HTTP filters and their like are configured with when their cost is measured: as users have them,
// and so that every request goes all their way and on to the origin.
import { createHash, createSign, generateKeyPairSync } from 'node:crypto';

const HTTP = 'type.googleapis.com/envoy.extensions.filters.http';

/**
 * @typedef {object} Subject
 * @property {string} name
 * @property {object} [filter] before the router
 * @property {object} [manager] what the connection manager has beside
 * @property {object} [route] what the route has beside
 * @property {readonly string[]} [headers] of each request: "name: value"
 * @property {number} [bodyBytes] of each answer, 100
 * @property {boolean} [asks] another service, once for each request at least
 */

const filter = (name, message, config = {}) => ({
  name: `envoy.filters.http.${name}`,
  typed_config: { '@type': `${HTTP}.${name}.v3.${message}`, ...config },
});

const service = (name) => ({ grpc_service: { envoy_grpc: { cluster_name: name }, timeout: '5s' } });

const always = { numerator: 100, denominator: 'HUNDRED' };
const on = { default_value: always };

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

function token() {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const expires = Math.floor(Date.now() / 1000) + 24 * 3600;
  const signed = `${part({ alg: 'RS256', kid: 'a' })}.${part({ iss: 'issuer', exp: expires, sub: 'me' })}`;
  const signature = createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url');
  return `${signed}.${signature}`;
}

const keys = JSON.stringify({
  keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'RS256' }],
});

const tracer = (name, config) => ({
  tracing: { provider: { name: `envoy.tracers.${name}`, typed_config: config } },
});

/** @type {readonly Subject[]} */
export const subjects = [
  {
    name: 'access log',
    manager: {
      access_log: [
        {
          name: 'envoy.access_loggers.file',
          typed_config: {
            '@type': 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog',
            path: '/dev/null',
          },
        },
      ],
    },
  },
  {
    name: 'cors',
    filter: filter('cors', 'Cors'),
    route: {
      typed_per_filter_config: {
        'envoy.filters.http.cors': {
          '@type': `${HTTP}.cors.v3.CorsPolicy`,
          allow_origin_string_match: [{ exact: 'http://here.test' }],
        },
      },
    },
    headers: ['origin: http://here.test'],
  },
  { name: 'csrf', filter: filter('csrf', 'CsrfPolicy', { filter_enabled: on }) },
  {
    name: 'header_mutation',
    filter: filter('header_mutation', 'HeaderMutation', {
      mutations: {
        request_mutations: [{ append: { header: { key: 'x-from', value: 'here' } } }],
        response_mutations: [{ remove: 'x-secret' }],
      },
    }),
  },
  {
    name: 'rbac',
    filter: filter('rbac', 'RBAC', {
      rules: {
        policies: {
          readers: {
            permissions: [{ header: { name: ':method', string_match: { exact: 'GET' } } }],
            principals: [{ remote_ip: { address_prefix: '127.0.0.0', prefix_len: 8 } }],
          },
        },
      },
    }),
  },
  {
    name: 'basic_auth',
    filter: filter('basic_auth', 'BasicAuth', {
      users: { inline_string: `user:{SHA}${createHash('sha1').update('pwd').digest('base64')}\n` },
    }),
    headers: [`authorization: Basic ${Buffer.from('user:pwd').toString('base64')}`],
  },
  {
    name: 'api_key_auth',
    filter: filter('api_key_auth', 'ApiKeyAuth', {
      credentials: [{ key: 'secret', client: 'me' }],
      key_sources: [{ header: 'x-api-key' }],
    }),
    headers: ['x-api-key: secret'],
  },
  {
    name: 'jwt_authn, RS256',
    filter: filter('jwt_authn', 'JwtAuthentication', {
      providers: { some: { issuer: 'issuer', local_jwks: { inline_string: keys } } },
      rules: [{ match: { prefix: '/' }, requires: { provider_name: 'some' } }],
    }),
    headers: [`authorization: Bearer ${token()}`],
  },
  {
    name: 'header_to_metadata',
    filter: filter('header_to_metadata', 'Config', {
      request_rules: [
        { header: 'x-version', on_header_present: { metadata_namespace: 'a', key: 'version' } },
      ],
    }),
    headers: ['x-version: 2'],
  },
  {
    name: 'set_metadata',
    filter: filter('set_metadata', 'Config', {
      metadata: [{ metadata_namespace: 'a', value: { version: '2' } }],
    }),
  },
  {
    name: 'set_filter_state',
    filter: filter('set_filter_state', 'Config', {
      on_request_headers: [
        {
          object_key: 'a',
          factory_key: 'envoy.string',
          format_string: { text_format_source: { inline_string: '%REQ(:path)%' } },
        },
      ],
    }),
  },
  {
    name: 'stateful_session',
    filter: filter('stateful_session', 'StatefulSession', {
      session_state: {
        name: 'envoy.http.stateful_session.cookie',
        typed_config: {
          '@type':
            'type.googleapis.com/envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState',
          cookie: { name: 'host', path: '/', ttl: '120s' },
        },
      },
    }),
  },
  {
    name: 'local_ratelimit',
    filter: filter('local_ratelimit', 'LocalRateLimit', {
      stat_prefix: 'bench',
      token_bucket: { max_tokens: 1e9, tokens_per_fill: 1e9, fill_interval: '1s' },
      filter_enabled: on,
      filter_enforced: on,
    }),
  },
  {
    name: 'ip_tagging',
    filter: filter('ip_tagging', 'IPTagging', {
      request_type: 'BOTH',
      ip_tags: [
        { ip_tag_name: 'local', ip_list: [{ address_prefix: '127.0.0.0', prefix_len: 8 }] },
      ],
    }),
  },
  {
    name: 'fault, of others',
    filter: filter('fault', 'HTTPFault', {
      abort: { http_status: 503, percentage: always },
      headers: [{ name: 'x-fault', string_match: { exact: 'yes' } }],
    }),
  },
  { name: 'buffer', filter: filter('buffer', 'Buffer', { max_request_bytes: 65536 }) },
  {
    name: 'health_check, of others',
    filter: filter('health_check', 'HealthCheck', {
      pass_through_mode: false,
      headers: [{ name: ':path', string_match: { exact: '/healthz' } }],
    }),
  },
  {
    name: 'adaptive_concurrency',
    filter: filter('adaptive_concurrency', 'AdaptiveConcurrency', {
      gradient_controller_config: {
        concurrency_limit_params: {
          concurrency_update_interval: '0.1s',
          max_concurrency_limit: 1e6,
        },
        min_rtt_calc_params: {
          interval: '60s',
          request_count: 50,
          min_concurrency: 100_000,
          jitter: { value: 1 },
        },
      },
    }),
  },
  {
    name: 'admission_control',
    filter: filter('admission_control', 'AdmissionControl', {
      success_criteria: { http_criteria: { http_success_status: [{ start: 200, end: 500 }] } },
    }),
  },
  {
    name: 'grpc_stats',
    filter: filter('grpc_stats', 'FilterConfig', { stats_for_all_methods: true }),
  },
  {
    name: 'compressor, gzip of 16 KiB',
    filter: filter('compressor', 'Compressor', {
      compressor_library: {
        name: 'gzip',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.compression.gzip.compressor.v3.Gzip',
        },
      },
    }),
    headers: ['accept-encoding: gzip'],
    bodyBytes: 16 * 1024,
  },
  {
    name: 'ext_authz, HTTP',
    filter: filter('ext_authz', 'ExtAuthz', {
      http_service: {
        server_uri: { uri: 'http://origin', cluster: 'origin', timeout: '5s' },
      },
    }),
    asks: true,
  },
  {
    name: 'ext_authz, gRPC',
    filter: filter('ext_authz', 'ExtAuthz', { ...service('service'), transport_api_version: 'V3' }),
    asks: true,
  },
  {
    name: 'ratelimit',
    filter: filter('ratelimit', 'RateLimit', {
      domain: 'bench',
      rate_limit_service: { ...service('service'), transport_api_version: 'V3' },
    }),
    route: { rate_limits: [{ actions: [{ remote_address: {} }] }] },
    asks: true,
  },
  {
    name: 'ext_proc, heads',
    filter: filter('ext_proc', 'ExternalProcessor', {
      ...service('service'),
      message_timeout: '5s',
    }),
    asks: true,
  },
  {
    name: 'tracing, Zipkin',
    manager: tracer('zipkin', {
      '@type': 'type.googleapis.com/envoy.config.trace.v3.ZipkinConfig',
      collector_cluster: 'origin',
      collector_endpoint: '/0',
      collector_endpoint_version: 'HTTP_JSON',
    }),
  },
  {
    name: 'tracing, OpenTelemetry',
    manager: tracer('opentelemetry', {
      '@type': 'type.googleapis.com/envoy.config.trace.v3.OpenTelemetryConfig',
      ...service('service'),
      service_name: 'bench',
    }),
  },
];
