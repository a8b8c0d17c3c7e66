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

test('an answer that would be asked for elsewhere is refused by its name', () => {
  const type = `${POLICIES}.redirect_policy.v3.RedirectPolicy`;
  const action = { name: 'r', typed_config: any(type, { uri: 'http://a/' }) };
  const { issues } = compiled([
    filter([matching(input('HttpResponseStatusCodeMatchInput'), '500', action)]),
  ]);
  assert.match(issues.join('\n'), /RedirectPolicy\) is not supported yet/);
});
