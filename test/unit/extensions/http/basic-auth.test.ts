import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const PACKAGE = 'envoy.extensions.filters.http.basic_auth.v3';
const HASH = '{SHA}tESsBmE/yNY3lb6a0L6vVQEZNqw=';
const basicAuth = (text: string, fields: object = {}) => ({
  name: 'b',
  typed_config: any(`${PACKAGE}.BasicAuth`, { users: { inline_string: text }, ...fields }),
});

test('users of basic_auth are the lines of a htpasswd file', () => {
  const text = `# who\nann:${HASH}\n\nbob:${HASH}\n`;
  const plan = compiled([basicAuth(text, { forward_username_header: 'X-User' })]).filters?.[0]
    ?.basic_auth;
  assert.deepEqual(
    plan?.users?.users?.map(({ name, hash }) => [name, hash?.length]),
    [
      ['ann', 20],
      ['bob', 20],
    ],
  );
  assert.equal(plan?.authentication_header, 'authorization');
  assert.equal(plan?.forward_username_header, 'x-user');
});

test('what is no user is refused with its line, and not repeated', () => {
  const cases = [
    ['ann', /username:password is expected \(line 1\)/],
    [`:${HASH}`, /empty user name/],
    ['ann:', /empty password/],
    ['\nann:secret', /unsupported htpasswd format: please use \{SHA\} \(line 2\)/],
    ['ann:{SHA}tESsBm=', /invalid SHA hash length/],
    [`ann:{SHA}${'!'.repeat(28)}`, /no Base64/],
    [`ann:${HASH}\nann:${HASH}`, /duplicate users \(line 2\)/],
  ] as const;
  for (const [text, expected] of cases) {
    const issues = compiled([basicAuth(text)]).issues.join();
    assert.match(issues, expected);
    assert.doesNotMatch(issues, /secret|tESs/);
  }
});

test('a route has users of its own', () => {
  const users = { inline_string: `admin:${HASH}` };
  const { issues, configs } = compiled([basicAuth(`someone:${HASH}`)], {
    route: { b: any(`${PACKAGE}.BasicAuthPerRoute`, { users, realm: 'r' }) },
  });
  assert.deepEqual(issues, []);
  assert.equal(configs?.[0]?.basic_auth?.users?.[0]?.name, 'admin');
  assert.equal(configs?.[0]?.basic_auth?.realm, 'r');
});
