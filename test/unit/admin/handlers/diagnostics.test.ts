import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionsOf } from '../../support/options.js';
import { AskedServer, FakeHost } from '../fake-host.js';

test('/contention says how to trace locks, and shows waits once they are traced', () => {
  assert.equal(
    new AskedServer().get('/contention').text,
    'Mutex contention tracing is not enabled. To enable, run Envoy with flag --enable-mutex-tracing.',
  );
  const host = new FakeHost();
  host.options = optionsOf('--enable-mutex-tracing');
  const { text, type } = new AskedServer({}, host).get('/contention');
  assert.deepEqual(JSON.parse(text), {
    num_contentions: '3',
    current_wait_cycles: '40',
    lifetime_wait_cycles: '500',
  });
  assert.equal(type, 'json');
});
