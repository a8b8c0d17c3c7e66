import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdminHost } from '../../../src/admin/host.js';
import { Runtime } from '../../../src/server/runtime.js';
import { AskedServer, FakeHost } from './fake-host.js';

function serverOf(
  layers: NonNullable<AdminHost['bootstrap']['layered_runtime']>['layers'],
  wouldChange = false,
): AskedServer {
  const host = new FakeHost();
  const bootstrap: AdminHost['bootstrap'] = { layered_runtime: { layers: layers ?? [] } };
  host.runtime = new Runtime(bootstrap, { stats: host.stats, wouldChange: () => wouldChange });
  return new AskedServer({}, host);
}

const BASE = { name: 'base', static_layer: { a: 1, b: { c: 'x', d: true } } };
const ADMIN = { name: 'ours', admin_layer: {} };

test('without layers there is nothing to show and nothing to change', () => {
  const asked = serverOf([]);
  assert.deepEqual(JSON.parse(asked.get('/runtime').text), { entries: {}, layers: [] });
  const refused = asked.post('/runtime_modify?a=1');
  assert.equal(refused.status, 503);
  assert.equal(refused.text, 'No admin layer specified');
});

test('nested keys are joined by dots, and every value is a text', () => {
  const asked = serverOf([BASE]);
  assert.deepEqual(JSON.parse(asked.get('/runtime').text), {
    entries: {
      a: { layer_values: ['1'], final_value: '1' },
      'b.c': { layer_values: ['x'], final_value: 'x' },
      'b.d': { layer_values: ['true'], final_value: 'true' },
    },
    layers: ['base'],
  });
  assert.equal(asked.host.native.value('runtime.num_keys'), 3);
});

test('an override wins until an empty value takes it back', () => {
  const asked = serverOf([BASE, ADMIN]);
  assert.equal(asked.post('/runtime_modify?a=22&new.key=x%20y').text, 'OK\n');
  const read = (): Record<string, { final_value: string; layer_values: string[] }> =>
    (JSON.parse(asked.get('/runtime').text) as { entries: ReturnType<typeof read> }).entries;
  assert.deepEqual(read()['a'], { layer_values: ['1', '22'], final_value: '22' });
  assert.equal(read()['new.key']?.final_value, 'x y');
  assert.equal(asked.host.native.value('runtime.admin_overrides_active'), 1);
  asked.post('/runtime_modify?a=&new.key=&never=');
  assert.equal(read()['a']?.final_value, '1');
  assert.equal(read()['new.key'], undefined);
  assert.equal(asked.host.native.value('runtime.admin_overrides_active'), 0);
});

test('a value that is no YAML, or that would have to change the data plane, is refused', () => {
  assert.equal(serverOf([ADMIN]).post('/runtime_modify?a=[').status, 503);
  const refused = serverOf([BASE, ADMIN], true).post('/runtime_modify?a=2');
  assert.equal(refused.status, 503);
  assert.match(refused.text, /at the start only: a/);
});

test('without parameters it says how it is used', () => {
  const { status, text } = serverOf([ADMIN]).post('/runtime_modify');
  assert.equal(status, 400);
  assert.match(text, /^usage: \/runtime_modify\?key1=value1/);
});
