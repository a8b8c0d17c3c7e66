import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Issue } from '../../../../src/config/issues/issue.js';
import { Place } from '../../../../src/plan/message/place.js';
import { compileHashPolicies } from '../../../../src/plan/route/hash-policies.js';

function policiesOf(...messages: Parameters<typeof compileHashPolicies>[0] & object) {
  const issues: Issue[] = [];
  const policies = compileHashPolicies(messages, Place.root(issues));
  return { policies, issues };
}

test('a request is hashed by headers, cookies, parameters and its client', () => {
  const { policies, issues } = policiesOf(
    { header: { header_name: 'X-User' }, terminal: true },
    { query_parameter: { name: 'q' } },
    { connection_properties: { source_ip: true } },
    {
      cookie: {
        name: 'c',
        ttl: 1500,
        path: '/p',
        attributes: [{ name: 'SameSite', value: 'Lax' }, { name: 'Secure' }],
      },
    },
  );
  assert.deepEqual(issues, []);
  assert.equal(policies[0]?.header?.name, 'x-user');
  assert.equal(policies[0].is_terminal, true);
  assert.equal(policies[1]?.query_parameter, 'q');
  assert.equal(policies[2]?.source_ip, true);
  assert.deepEqual(policies[3]?.cookie, {
    name: 'c',
    ttl_s: 1,
    path: '/p',
    attributes: ['SameSite=Lax', 'Secure'],
  });
});

test('a cookie without a lifetime is never made; one of 0 lasts as long as the client likes', () => {
  assert.equal(policiesOf({ cookie: { name: 'c' } }).policies[0]?.cookie?.ttl_s, undefined);
  assert.equal(policiesOf({ cookie: { name: 'c', ttl: 0 } }).policies[0]?.cookie?.ttl_s, 0);
});

test('what adds nothing to a hash is left out', () => {
  const { policies, issues } = policiesOf({ connection_properties: { source_ip: false } });
  assert.deepEqual(policies, []);
  assert.deepEqual(issues, []);
});

test('a hash may be made of what filters keep under a name', () => {
  const { policies, issues } = policiesOf({ filter_state: { key: 'k' } });
  assert.equal(policies[0]?.filter_state, 'k');
  assert.deepEqual(issues, []);
});
