// When names are asked for again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NameServer, planOf, resolverFor, until, Watched } from './watched.js';

test('a failure keeps the hosts, is counted, and warned of once', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('a.test', { addresses: ['10.0.0.1'] });
  const watched = new Watched(t, planOf(['a.test']), await resolverFor(t, server));
  await watched.monitor.start();

  server.zone.set('a.test', 'servfail');
  await until(() => watched.count('update_failure') >= 3);

  assert.deepEqual(watched.hosts, ['10.0.0.1:80']);
  assert.deepEqual(
    watched.logs.filter((line) => line.startsWith('warning')),
    ['warning cluster backend: cannot resolve a.test: ESERVFAIL; keeping 10.0.0.1'],
  );
  server.zone.set('a.test', { addresses: ['10.0.0.2'] });
  await until(() => watched.hosts[0] === '10.0.0.2:80');
});

test('failures are repeated after a random part of an interval that doubles up to its limit', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('a.test', 'servfail');
  const plan = planOf(['a.test'], {
    refreshMs: 60_000,
    failureRefresh: { baseMs: 100, maxMs: 300 },
  });
  const delays: number[] = [];
  const setTimeoutBefore = globalThis.setTimeout;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, delayMs: number) => {
    delays.push(delayMs);
    return setTimeoutBefore(run, 1);
  });
  const watched = new Watched(t, plan, await resolverFor(t, server), () => 0.5);

  await watched.monitor.start();
  while (delays.filter((delayMs) => delayMs >= 50).length < 4) {
    await new Promise((resolve) => setTimeoutBefore(resolve, 5));
  }
  watched.monitor.stop();

  assert.deepEqual(delays.filter((delayMs) => delayMs >= 50).slice(0, 4), [50, 100, 150, 150]);
});

test('a time to live is respected where it is asked for, unless it is 0', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('ttl.test', { addresses: ['10.0.0.1'], ttl: 7 });
  server.zone.set('ttl0.test', { addresses: ['10.0.0.1'], ttl: 0 });
  const resolver = await resolverFor(t, server);
  const delays: number[] = [];
  const setTimeoutBefore = globalThis.setTimeout;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, delayMs: number) => {
    delays.push(delayMs);
    return setTimeoutBefore(run, delayMs);
  });

  for (const [name, respectTtl] of [
    ['ttl.test', true],
    ['ttl.test', false],
    ['ttl0.test', true],
  ] as const) {
    const watched = new Watched(t, planOf([name], { respectTtl, refreshMs: 60_000 }), resolver);
    await watched.monitor.start();
    watched.monitor.stop();
  }

  assert.deepEqual(
    delays.filter((delayMs) => delayMs >= 7_000),
    [7_000, 60_000, 60_000],
  );
});

test('an answer is good for no shorter than is wanted, and a little longer by chance', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('ttl.test', { addresses: ['10.0.0.1'], ttl: 7 });
  const resolver = await resolverFor(t, server);
  const delays: number[] = [];
  const setTimeoutBefore = globalThis.setTimeout;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, delayMs: number) => {
    delays.push(delayMs);
    return setTimeoutBefore(run, delayMs);
  });
  const plans = [{ minRefreshMs: 30_000 }, { minRefreshMs: 1000 }, { jitterMs: 5000 }];
  for (const plan of plans) {
    const watched = new Watched(
      t,
      planOf(['ttl.test'], { respectTtl: true, refreshMs: 60_000, ...plan }),
      resolver,
    );
    await watched.monitor.start();
    watched.monitor.stop();
  }

  const [least, told, later = 0] = delays.filter((delayMs) => delayMs >= 7_000);
  assert.deepEqual([least, told], [30_000, 7_000]);
  assert.ok(later >= 7_000 && later < 12_000, String(later));
});

test('an answer that is good for months is not asked for again at once', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('months.test', { addresses: ['10.0.0.1'], ttl: 10_000_000 });
  const resolver = await resolverFor(t, server);
  const started = t.mock.method(globalThis, 'setTimeout');
  const days = 86_400_000;
  for (const plan of [{ respectTtl: true }, { refreshMs: 25 * days }]) {
    started.mock.resetCalls();
    const watched = new Watched(t, planOf(['months.test'], plan), resolver);
    await watched.monitor.start();
    watched.monitor.stop();
    // Node runs timers that are to wait for longer than 2^31 - 1 ms after one.
    const delays = started.mock.calls.map(({ arguments: [, delayMs] }) => Number(delayMs));
    assert.equal(Math.max(...delays), 2 ** 31 - 1);
  }
});
