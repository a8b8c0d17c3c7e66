// Which hosts of a cluster come of the answers to its names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseIp } from '../../../../src/plan/address/ip.js';
import { NameResolver } from '../../../../src/server/dns/name-resolver.js';
import { NameServer, planOf, resolverFor, until, Watched } from './watched.js';

test('every address of a strict name is a host, in the order of the answer, each once', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('two.test', { addresses: ['10.0.0.2', '10.0.0.1', '10.0.0.2'] });
  const watched = new Watched(t, planOf(['two.test']), await resolverFor(t, server));

  await watched.monitor.start();

  assert.deepEqual(watched.hosts, ['10.0.0.2:80', '10.0.0.1:80']);
  assert.deepEqual(watched.asked.slice(0, 2), ['begins', 'addresses']);
  assert.deepEqual(watched.assignments[0], {
    cluster_name: 'backend',
    overprovisioning_factor_pct: 140,
    hosts: [
      {
        hostname: 'two.test',
        weight: 1,
        zone: 'a',
        address: { ip: parseIp('10.0.0.2'), port: 80 },
      },
      {
        hostname: 'two.test',
        weight: 1,
        zone: 'a',
        address: { ip: parseIp('10.0.0.1'), port: 80 },
      },
    ],
  });
});

test('an answer with the same addresses in another order changes nothing', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('two.test', { addresses: ['10.0.0.2', '10.0.0.1'] });
  const watched = new Watched(t, planOf(['two.test']), await resolverFor(t, server));
  await watched.monitor.start();

  server.zone.set('two.test', { addresses: ['10.0.0.1', '10.0.0.2'] });
  await until(() => watched.count('update_no_rebuild') >= 2);

  assert.equal(watched.assignments.length, 1);
  assert.equal(watched.count('update_success'), watched.count('update_no_rebuild') + 1);
});

test('addresses that come and go are followed', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('a.test', { addresses: ['10.0.0.1'] });
  server.zone.set('b.test', { addresses: ['10.0.0.9'] });
  const watched = new Watched(t, planOf(['a.test', 'b.test']), await resolverFor(t, server));
  await watched.monitor.start();
  await until(() => watched.hosts.length === 2);
  assert.deepEqual(watched.hosts, ['10.0.0.1:80', '10.0.0.9:81']);

  server.zone.set('a.test', { addresses: ['10.0.0.3', '10.0.0.1'] });
  await until(() => watched.hosts.length === 3);

  assert.deepEqual(watched.hosts, ['10.0.0.3:80', '10.0.0.1:80', '10.0.0.9:81']);
});

test('a strict name that is gone takes its hosts along; a logical one keeps its host', async (t) => {
  const server = await NameServer.start(t);
  const resolver = await resolverFor(t, server);
  server.zone.set('a.test', { addresses: ['10.0.0.1'] });
  const strict = new Watched(t, planOf(['a.test']), resolver);
  const logical = new Watched(t, planOf(['a.test'], { kind: 'logical' }), resolver);
  await Promise.all([strict.monitor.start(), logical.monitor.start()]);

  server.zone.delete('a.test');
  await until(() => strict.hosts.length === 0 && logical.count('update_failure') > 0);

  assert.equal(strict.count('update_failure'), 0);
  assert.deepEqual(logical.hosts, ['10.0.0.1:80']);
});

test('a logical cluster has one host: the first address, which may change', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('a.test', { addresses: ['10.0.0.2', '10.0.0.1'] });
  const plan = planOf(['a.test'], { kind: 'logical' });
  const watched = new Watched(t, plan, await resolverFor(t, server));
  await watched.monitor.start();
  assert.deepEqual(watched.hosts, ['10.0.0.2:80']);

  server.zone.set('a.test', { addresses: ['10.0.0.1', '10.0.0.2'] });
  await until(() => watched.assignments.length === 2);

  assert.deepEqual(watched.hosts, ['10.0.0.1:80']);
});

test('a logical cluster of all addresses has one host, which is tried at each of them', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('a.test', { addresses: ['10.0.0.2', '10.0.0.1'] });
  const plan = planOf(['a.test'], { kind: 'logical', lookup: 'ALL' });
  const watched = new Watched(t, plan, await resolverFor(t, server));
  await watched.monitor.start();
  const [host, ...others] = watched.assignments[0]?.hosts ?? [];
  assert.deepEqual(others, []);
  assert.equal(host?.tried_addresses?.length, 2);
});

test('start waits for the first of several names, whatever its answer is', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('silent.test', 'silent');
  const plan = planOf(['silent.test', 'none.test']);
  const watched = new Watched(t, plan, await resolverFor(t, server));

  await watched.monitor.start();

  assert.equal(watched.count('update_attempt'), 2);
  assert.equal(watched.count('update_success'), 1);
  assert.equal(watched.count('update_no_rebuild'), 1);
  await until(() => watched.count('update_failure') === 1);
});

test('a name that no server takes questions about is refused once, whatever kinds of address are tried', async (t) => {
  const resolver = new NameResolver({ servers: ['127.0.0.1:1'], timeoutMs: 100, tries: 1 });
  const watched = new Watched(
    t,
    planOf(['one.test'], { lookup: 'AUTO', refreshMs: 60_000 }),
    resolver,
  );
  await watched.monitor.start();
  assert.deepEqual(watched.asked, ['begins', 'failed', 'begins', 'failed', 'refused']);
});

test('a stopped monitor says nothing more, and start does not hang', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('silent.test', 'silent');
  const watched = new Watched(t, planOf(['silent.test']), await resolverFor(t, server));
  const started = watched.monitor.start();
  watched.monitor.stop();
  await started;
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.equal(watched.count('update_failure'), 0);
});

test('the greatest weight is of the name that was answered last, and 1 of one without addresses', async (t) => {
  const server = await NameServer.start(t);
  server.zone.set('heavy.test', { addresses: ['10.0.0.2', '10.0.0.1'] });
  const plan = planOf(['light.test', 'heavy.test']);
  const watched = new Watched(t, plan, await resolverFor(t, server));

  await watched.monitor.start();
  await until(() => watched.maxWeights.length >= 4);

  assert.deepEqual(new Set(watched.maxWeights), new Set([1, 2]));
  server.zone.delete('heavy.test');
  await until(() => watched.hosts.length === 0);
  watched.maxWeights.length = 0;
  await until(() => watched.maxWeights.length >= 4);
  assert.deepEqual(new Set(watched.maxWeights), new Set([1]));

  const logical = new Watched(
    t,
    planOf(['light.test', 'heavy.test'].slice(1), { kind: 'logical' }),
    await resolverFor(t, server),
  );
  server.zone.set('heavy.test', { addresses: ['10.0.0.2'] });
  await logical.monitor.start();
  assert.deepEqual(logical.maxWeights, []);
});
