import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JwtRequirement_Kind as Kind } from '../../../../src/plan/plan.gen.js';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const PACKAGE = 'envoy.extensions.filters.http.jwt_authn.v3';
const KEYS = '{"keys":[{"kty":"oct","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQ","kid":"k"}]}';
const jwt = (fields: object) => ({
  name: 'j',
  typed_config: any(`${PACKAGE}.JwtAuthentication`, fields),
});
const local = (text = KEYS) => ({ issuer: 'one', local_jwks: { inline_string: text } });

test('a provider looks where clients have their tokens, unless it says where', () => {
  const { issues, filters } = compiled([
    jwt({ providers: { a: local(), b: { ...local(), from_cookies: ['jar'] } } }),
  ]);
  assert.deepEqual(issues, []);
  const [a, b] = filters?.[0]?.jwt_authn?.providers ?? [];
  assert.deepEqual(a?.from_headers, [{ name: 'authorization', prefix: 'Bearer ' }]);
  assert.deepEqual(a?.from_params, ['access_token']);
  assert.deepEqual([b?.from_headers, b?.from_params, b?.from_cookies], [[], [], ['jar']]);
  assert.equal(a?.local?.keys?.[0]?.kid, 'k');
});

test('requirements are trees over the places of providers', () => {
  const requires = {
    requires_any: {
      requirements: [
        { provider_name: 'b' },
        { provider_and_audiences: { provider_name: 'a', audiences: ['x'] } },
        { allow_missing: {} },
      ],
    },
  };
  const { filters } = compiled([
    jwt({ providers: { a: local(), b: local() }, rules: [{ match: { prefix: '/' }, requires }] }),
  ]);
  const requirement = filters?.[0]?.jwt_authn?.rules?.[0]?.requirement;
  assert.equal(requirement?.kind, Kind.ANY);
  assert.deepEqual(
    requirement?.parts?.map(({ kind, providers }) => [kind, providers]),
    [
      [Kind.PROVIDER, [1]],
      [Kind.PROVIDER, [0]],
      [Kind.MISSING, [0, 1]],
    ],
  );
});

test('what is wrong with keys and names is told in the real words', () => {
  const cases = [
    [
      { providers: { a: local('no') } },
      /Provider 'a' in jwt_authn config has invalid local jwks: Jwks is an invalid JSON/,
    ],
    [{ providers: { a: local('{}') } }, /Jwks does not have \[keys\] field/],
    [{ providers: { a: local('{"keys":[]}') } }, /Jwks doesn't have any valid public key/],
    [{ providers: { a: local('{"keys":[{"kty":"x"}]}') } }, /\[kty\] is not supported in \[keys\]/],
    [
      { providers: { a: local('{"keys":[{"kty":"RSA","n":"AQ","e":"Ag"}]}') } },
      /RSA \[n\] or \[e\] field/,
    ],
    [
      { providers: { a: local('{"keys":[{"kty":"EC","alg":"ES256","crv":"P-384"}]}') } },
      /not compatible with \[alg\]/,
    ],
    [
      {
        providers: { a: local() },
        rules: [{ match: { prefix: '/' }, requires: { provider_name: 'b' } }],
      },
      /Required provider \['b'\] is not configured/,
    ],
    [
      {
        providers: { a: local() },
        rules: [{ match: { prefix: '/' }, requirement_name: 'b' }],
        requirement_map: { c: {}, d: {} },
      },
      /Wrong requirement_name: b. It should be one of \[c,d\]/,
    ],
    [
      {
        providers: {
          a: { remote_jwks: { http_uri: { uri: 'keys.test/', cluster: 'c', timeout: '1s' } } },
        },
      },
      /Provider 'a' has an invalid URI: 'keys.test\/'/,
    ],
  ] as const;
  for (const [fields, expected] of cases) {
    assert.match(compiled([jwt(fields)]).issues.join(), expected);
  }
});
