import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdminHost } from '../../../../src/admin/host.js';
import { AskedServer, FakeHost } from '../fake-host.js';

type Layers = NonNullable<AdminHost['bootstrap']['layered_runtime']>['layers'];

function serverOf(layers: Layers): AskedServer {
  const host = new FakeHost();
  host.runtime = host.makeRuntime(layers ? { layered_runtime: { layers } } : {});
  return new AskedServer({}, host);
}

const BASE = { name: 'base', static_layer: { a: 1, b: { c: 'x', d: true } } };
const ADMIN = { name: 'ours', admin_layer: {} };

test('without a layered runtime there is nothing to show and nothing to change', () => {
  const asked = serverOf(undefined);
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

test('a value that is no YAML is refused, and so is what came with it', () => {
  const asked = serverOf([ADMIN]);
  assert.deepEqual(asked.post('/runtime_modify?good=1&a=['), {
    status: 503,
    type: 'text',
    text: 'yaml-cpp: error at line 1, column 1: end of sequence flow not found',
  });
  assert.deepEqual(JSON.parse(asked.get('/runtime').text), { entries: {}, layers: ['ours'] });
});

test('a quote alone and what looks like a directive are values, as in the real server', () => {
  const asked = serverOf([ADMIN]);
  assert.equal(asked.post('/runtime_modify?a="&b=%25x').text, 'OK\n');
  const { entries } = JSON.parse(asked.get('/runtime').text) as {
    readonly entries: Readonly<Record<string, { readonly final_value: string }>>;
  };
  assert.deepEqual([entries['a']?.final_value, entries['b']?.final_value], ['"', '%x']);
});

test('numbers of plans follow their keys; what was read once is not changed', () => {
  const asked = serverOf([BASE, ADMIN]);
  const { reads } = asked.host;
  assert.deepEqual(reads.liveMillionths('share', { numerator: 5 }), { value: 50_000, slot: 1 });
  assert.deepEqual(reads.liveNumber('a', 7), { value: 1, slot: 2 });
  assert.equal(reads.number('limit', 9), 9);

  assert.equal(
    asked.post('/runtime_modify?share={numerator: 3, denominator: MILLION}').status,
    200,
  );
  assert.deepEqual(asked.host.slots, [3, 1]);
  const refused = asked.post('/runtime_modify?a=2&limit=1');
  assert.equal(refused.status, 503);
  assert.match(refused.text, /at the start only.*: limit/);
  asked.post('/runtime_modify?a=2&share=');
  assert.deepEqual(asked.host.slots, [50_000, 2]);
});

test('a form counts where there is no query', () => {
  const asked = serverOf([ADMIN]);
  const form = {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'k=v&l=w',
  };
  asked.post('/runtime_modify?a=1', form);
  assert.equal(asked.host.native.value('runtime.num_keys'), 1);
  asked.post('/runtime_modify', form);
  assert.equal(asked.host.native.value('runtime.num_keys'), 3);
});

test('a form is what says so and nothing more', () => {
  const asked = serverOf([ADMIN]);
  const statusOf = (type: string): number =>
    asked.post('/runtime_modify', { headers: { 'content-type': type }, body: 'k=v' }).status;
  assert.equal(statusOf('application/x-www-form-urlencoded'), 200);
  assert.equal(statusOf('Application/X-WWW-Form-Urlencoded'), 400);
  assert.equal(statusOf('application/x-www-form-urlencoded; charset=utf-8'), 400);
});

test('without parameters it says how it is used', () => {
  const { status, text } = serverOf([ADMIN]).post('/runtime_modify');
  assert.equal(status, 400);
  assert.match(text, /^usage: \/runtime_modify\?key1=value1/);
});
