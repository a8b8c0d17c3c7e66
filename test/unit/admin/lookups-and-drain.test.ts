import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentLookups } from '../../../src/server/recent-lookups.js';
import { AskedServer } from './fake-host.js';

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

test('/drain_listeners stops all listeners, or the inbound ones', () => {
  const asked = new AskedServer();
  assert.equal(asked.post('/drain_listeners').text, 'OK\n');
  assert.equal(asked.post('/drain_listeners?inboundonly').text, 'OK\n');
  assert.deepEqual(asked.host.native.calls, ['stopListeners', 'stopListeners inbound']);
});

test('a drain over time is refused by its name and does nothing', () => {
  const asked = new AskedServer();
  for (const name of ['graceful', 'skip_exit']) {
    const { status, text } = asked.post(`/drain_listeners?${name}`);
    assert.equal(status, 501);
    assert.match(text, new RegExp(`^${name}: `));
  }
  assert.deepEqual(asked.host.native.calls, []);
});
