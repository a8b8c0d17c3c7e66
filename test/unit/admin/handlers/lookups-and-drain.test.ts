import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentLookups } from '../../../../src/stats/recent-lookups.js';
import { optionsOf } from '../../support/options.js';
import { AskedServer, FakeHost } from '../fake-host.js';

const OFF = 'Lookup tracking is not enabled. Use /stats/recentlookups/enable to enable.\n';

test('lookups are only counted until they are remembered', () => {
  const asked = new AskedServer();
  const off = asked.get('/stats/recentlookups').text;
  assert.ok(off.startsWith(`${OFF}\ntotal: `), off);
  asked.post('/stats/recentlookups/enable');
  asked.host.stats.count('server.new_name');
  asked.host.stats.count('server.new_name');
  const { text } = asked.get('/stats/recentlookups');
  assert.match(text, /^   Count Lookup\n(.*\n)*       1 server\.new_name\n(.*\n)*\ntotal: \d+\n$/);
});

test('disabling forgets the names, clearing forgets their number as well', () => {
  const asked = new AskedServer();
  const { lookups } = asked.host.stats;
  asked.post('/stats/recentlookups/enable');
  lookups.note('a');
  const { total } = lookups;
  asked.post('/stats/recentlookups/disable');
  assert.deepEqual([lookups.list(), lookups.total], [[], total]);
  asked.post('/stats/recentlookups/clear');
  assert.equal(lookups.total, 0);
});

test('with the fake symbol table lookups cannot be remembered', () => {
  const host = new FakeHost();
  host.options = optionsOf('--use-fake-symbol-table', '1');
  const asked = new AskedServer({}, host);
  const why = 'Lookup tracking is not available with --use-fake-symbol-table 1.\n';

  assert.equal(asked.post('/stats/recentlookups/enable').status, 400);
  assert.ok(asked.get('/stats/recentlookups').text.startsWith(why));
  assert.equal(asked.host.stats.lookups.isOn, false);
});

test('the latest lookup is first, and the oldest of more than a hundred is forgotten', () => {
  const lookups = new RecentLookups();
  lookups.enable();
  for (let i = 0; i < 101; i++) lookups.note(`name${i}`);
  lookups.note('name1');
  const list = lookups.list();
  assert.equal(list.length, 100);
  assert.deepEqual(list[0], ['name1', 2]);
  assert.deepEqual(list.at(-1), ['name2', 1]);
});

const drained = (query: string): readonly string[] => {
  const asked = new AskedServer();
  assert.equal(asked.post(`/drain_listeners${query}`).text, 'OK\n');
  return asked.host.native.calls;
};

test('/drain_listeners asks clients to close and stops all listeners, or the inbound ones', () => {
  assert.deepEqual(drained(''), ['startDrain all 600 gradual', 'stopListening all']);
  assert.deepEqual(drained('?inboundonly'), [
    'startDrain inbound 600 gradual',
    'stopListening inbound',
  ]);
});

test('a graceful drain listens on for the drain time', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const calls = drained('?graceful');
  assert.deepEqual(calls, ['startDrain all 600 gradual']);
  t.mock.timers.tick(600_000);
  assert.equal(calls.at(-1), 'stopListening all');
});

test('with skip_exit the listeners are never stopped', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const query of ['?skip_exit', '?graceful&skip_exit']) {
    const calls = drained(query);
    t.mock.timers.tick(600_000);
    assert.deepEqual(calls, ['startDrain all 600 gradual']);
  }
});
