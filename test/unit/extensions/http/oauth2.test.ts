import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OAuth2_AuthType } from '../../../../src/plan/plan.gen.js';
import {
  any,
  compile,
  connectionManager,
  issuesOf,
  listenerOf,
  ROUTER,
} from '../../plan/helpers.js';

const PACKAGE = 'envoy.extensions.filters.http.oauth2.v3';
const BASE = {
  token_endpoint: { cluster: 'idp', uri: 'http://idp.test/token', timeout: 1000 },
  authorization_endpoint: 'https://idp.test/login?x=y',
  redirect_uri: 'http://%REQ(:authority)%/callback',
  redirect_path_matcher: { path: { exact: '/callback' } },
  signout_path: { path: { exact: '/signout' } },
  credentials: {
    client_id: 'kit',
    token_secret: { name: 'token' },
    hmac_secret: { name: 'hmac' },
  },
};

const secretOf = (name: string) => ({
  name,
  generic_secret: { secret: { inline_string: `${name} hush` } },
});

function compiled(fields: object | undefined) {
  const config = fields && { config: { ...BASE, ...fields } };
  const http_filters = [
    { name: 'x', typed_config: any(`${PACKAGE}.OAuth2`, config ?? {}) },
    ROUTER,
  ];
  const listeners = [listenerOf(connectionManager({}, { http_filters }))];
  const secrets = [secretOf('token'), secretOf('hmac')];
  const result = compile({ static_resources: { listeners, secrets } });
  return {
    issues: issuesOf(result).join('\n'),
    plan: result.update.listeners?.[0]?.filter_chains?.[0]?.http?.http_filters?.[0]?.oauth2,
    live: result.context.live,
  };
}

test('a login has defaults for cookies, times and who asks for tokens', () => {
  const { plan } = compiled({ resources: ['http://r/ x'] });
  assert.equal(plan?.token_authority, 'idp.test');
  assert.equal(plan?.token_path, '/token');
  assert.deepEqual(plan?.token_secret, { value: 'token hush' });
  assert.equal(plan?.auth_type, OAuth2_AuthType.URL_ENCODED_BODY);
  assert.equal(plan?.authorization_base, 'https://idp.test/login');
  assert.deepEqual(plan?.authorization_query, [
    { key: 'x', value: 'y' },
    { key: 'client_id', value: 'kit' },
    { key: 'response_type', value: 'code' },
    { key: 'scope', value: 'user' },
  ]);
  assert.equal(plan?.authorization_suffix, '&resource=http%3A%2F%2Fr%2F%20x');
  assert.equal(plan?.bearer_token?.name, 'BearerToken');
  assert.equal(plan?.bearer_token?.path, '/');
  assert.equal(plan?.use_refresh_token, true);
  assert.equal(plan?.default_refresh_token_expires_s, 604_800);
  assert.equal(plan?.chunks, undefined);
  assert.deepEqual(compiled(undefined).plan, { disabled: true });
});

test('cookies, assertions and retries are as configured', () => {
  const { plan } = compiled({
    auth_type: 'PRIVATE_KEY_JWT',
    private_key_jwt_config: { signing_algorithm: 'ES384', assertion_lifetime: 5000 },
    cookie_configs: { oauth_nonce_cookie_config: { same_site: 'LAX', path: '/n' } },
    token_cookie_chunking: { max_chunks: 3 },
    retry_policy: { num_retries: 2 },
    authorization_endpoint: 'https://idp.test',
  });
  assert.deepEqual(plan?.assertion, {
    algorithm: 'ES384',
    lifetime_s: 5,
    audience: 'http://idp.test/token',
  });
  assert.deepEqual(plan?.nonce, {
    name: 'OauthNonce',
    path: '/n',
    same_site: ';SameSite=Lax',
    partitioned: undefined,
  });
  assert.deepEqual(plan?.chunks, { max_cookie_bytes: 4096, max_chunks: 3 });
  assert.equal(plan?.token_service?.retry?.retry_on, '5xx,gateway-error,connect-failure,reset');
  assert.equal(plan?.authorization_base, 'https://idp.test/');
});

test('a secret that comes by SDS is known by a number', () => {
  const source = { path_config_source: { path: process.execPath } };
  const { plan, live } = compiled({
    credentials: {
      ...BASE.credentials,
      token_secret: { name: 'far', sds_config: { ...source, resource_api_version: 'V3' } },
    },
  });
  assert.deepEqual(plan?.token_secret, { id: 1, value: undefined });
  assert.equal(live.has('secret'), true);
});

test('what cannot be is refused in the real words', () => {
  const wrong = (fields: object): string => compiled(fields).issues;
  const secrets = (name: string) => ({
    credentials: { ...BASE.credentials, [name]: { name: 'nobody' } },
  });
  assert.match(wrong(secrets('token_secret')), /invalid token secret configuration/);
  assert.match(wrong(secrets('hmac_secret')), /invalid HMAC secret configuration/);
  assert.match(
    wrong({ authorization_endpoint: 'nonsense' }),
    /invalid authorization endpoint URL 'nonsense'/,
  );
  assert.match(wrong({ end_session_endpoint: 'https://e/' }), /only supported for OpenID Connect/);
  assert.match(
    wrong({ forward_bearer_token: true, preserve_authorization_header: true }),
    /at most one of forward_bearer_token/,
  );
  assert.match(wrong({ forward_id_token: { header: ':path' } }), /header ':path' can not be used/);
  assert.match(wrong({ redirect_uri: '%NOPE%' }), /NOPE/);
  assert.match(wrong({ token_endpoint: undefined }), /unknown cluster ''/);
});
