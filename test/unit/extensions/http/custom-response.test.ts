import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const TYPE = 'envoy.extensions.filters.http.custom_response.v3.CustomResponse';
const POLICIES = 'envoy.extensions.http.custom_response';
const input = (name: string, fields: object = {}) => ({
  name: 'i',
  typed_config: any(`envoy.type.matcher.v3.${name}`, fields),
});
const local = (fields: object) => ({
  name: 'a',
  typed_config: any(`${POLICIES}.local_response_policy.v3.LocalResponsePolicy`, fields),
});
const matching = (of: object, exact: string, action: object) => ({
  predicate: { single_predicate: { input: of, value_match: { exact } } },
  on_match: { action },
});
const filter = (matchers: readonly object[]) => ({
  name: 'c',
  typed_config: any(TYPE, { custom_response_matcher: { matcher_list: { matchers } } }),
});

test('answers are matched by status, class and headers, and made of a body or a format', () => {
  const { issues, filters } = compiled([
    filter([
      matching(input('HttpResponseStatusCodeMatchInput'), '500', local({ status_code: 499 })),
      matching(
        input('HttpRequestHeaderMatchInput', { header_name: 'X-A' }),
        '1',
        local({
          body: { inline_string: 'own' },
          body_format: { json_format: { was: '%LOCAL_REPLY_BODY%', code: '%RESPONSE_CODE%' } },
        }),
      ),
    ]),
  ]);
  assert.deepEqual(issues, []);
  const own = filters?.[0]?.custom_response;
  assert.equal(own?.policies?.length, 2);
  assert.equal(own?.policies?.[0]?.status, 499);
  assert.match(JSON.stringify(own?.policies?.[1]?.body_format), /"own"/);
  assert.match(JSON.stringify(own?.tree), /"x-a"/);
});

const REDIRECT = `${POLICIES}.redirect_policy.v3.RedirectPolicy`;
const elsewhere = (fields: object) => {
  const action = { name: 'r', typed_config: any(REDIRECT, fields) };
  return compiled([filter([matching(input('HttpResponseStatusCodeMatchInput'), '500', action)])]);
};

test('an answer may be asked for elsewhere, by its address or by what of it is another', () => {
  const byAddress = elsewhere({
    uri: 'http://Pages.test:81/a?b#c',
    status_code: 499,
    request_headers_to_add: [{ header: { key: 'x-a', value: '1' } }],
  });
  assert.deepEqual(byAddress.issues, []);
  const policy = byAddress.filters?.[0]?.custom_response?.policies?.[0];
  assert.equal(policy?.status, 499);
  const { request_add, ...to } = policy.redirect ?? {};
  assert.equal(request_add?.length, 1);
  const place = { scheme: 'http', host: 'Pages.test:81', path: '/a?b', strip_query: true };
  assert.deepEqual(to, place);
  const byParts = elsewhere({
    redirect_action: { host_redirect: 'pages.test', port_redirect: 82 },
  });
  assert.deepEqual(byParts.issues, []);
  const parts = byParts.filters?.[0]?.custom_response?.policies?.[0]?.redirect;
  assert.equal(parts?.host, 'pages.test');
  assert.equal(parts.port, 82);
  assert.deepEqual(elsewhere({ redirect_action: { https_redirect: true } }).issues, []);
});

test('what is no address to ask elsewhere is refused', () => {
  const refused = (fields: object): string => elsewhere(fields).issues.join('\n');
  assert.match(refused({ uri: 'pages.test/a' }), /Invalid uri specified for redirection/);
  assert.match(
    refused({ redirect_action: { path_redirect: '/a#b' } }),
    /#fragment is not supported/,
  );
  const rewrite = { host_redirect: 'a', prefix_rewrite: '/b' };
  assert.match(refused({ redirect_action: rewrite }), /prefix_rewrite is not supported/);
  const action = { name: 'm', typed_config: any('google.protobuf.Struct', {}) };
  assert.match(
    refused({ uri: 'http://a/', modify_request_headers_action: action }),
    /modify_request_headers_action .* is not supported/,
  );
});
