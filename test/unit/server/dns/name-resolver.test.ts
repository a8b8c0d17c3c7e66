// How a name is looked up: by family, in files, among domains to search.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { LookupFamily } from '../../../../src/plan/cluster/dns-cluster.js';
import { NameResolver } from '../../../../src/server/dns/name-resolver.js';
import { NameServer, resolverFor } from './watched.js';

test('lookup families', async (t) => {
  const server = await NameServer.start(t);
  const resolver = await resolverFor(t, server);
  server.zone.set('both.test', { addresses: ['10.0.0.1', 'fd00::1'] });
  server.zone.set('v4.test', { addresses: ['10.0.0.1'] });
  const addresses = async (name: string, family: LookupFamily): Promise<string> => {
    const answer = await resolver.lookup(name, family);
    return answer.kind === 'addresses' ? answer.addresses.join(' ') : answer.kind;
  };

  assert.equal(await addresses('both.test', 'V4_ONLY'), '10.0.0.1');
  assert.equal(await addresses('both.test', 'V6_ONLY'), 'fd00::1');
  assert.equal(await addresses('both.test', 'AUTO'), 'fd00::1');
  assert.equal(await addresses('both.test', 'V4_PREFERRED'), '10.0.0.1');
  assert.equal(await addresses('both.test', 'ALL'), '10.0.0.1 fd00::1');
  assert.equal(await addresses('v4.test', 'AUTO'), '10.0.0.1');
  assert.equal(await addresses('v4.test', 'V6_ONLY'), 'none');
  assert.equal(await addresses('nx.test', 'ALL'), 'none');
});

test('an address is its own answer, unless it is of IPv6 where IPv4 alone will do', async (t) => {
  const server = await NameServer.start(t);
  const resolver = await resolverFor(t, server);
  assert.deepEqual(await resolver.lookup('10.1.2.3', 'AUTO'), {
    kind: 'addresses',
    addresses: ['10.1.2.3'],
    ttlMs: 0,
  });
  assert.equal((await resolver.lookup('10.1.2.3', 'V6_ONLY')).kind, 'addresses');
  assert.equal((await resolver.lookup('::1', 'V4_ONLY')).kind, 'failed');
  assert.deepEqual(server.questions, []);
});

test('the hosts file comes first, in any case, and is read again when it changes', async (t) => {
  const server = await NameServer.start(t);
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-dns-'));
  t.after(() => rm(folder, { recursive: true }));
  const hostsPath = join(folder, 'hosts');
  await writeFile(hostsPath, '10.9.9.9 db.internal DB # the database\n10.9.9.8\tdb\n');
  const resolver = new NameResolver({ servers: [server.address], hostsPath });
  const found = async (name: string): Promise<unknown> => {
    const answer = await resolver.lookup(name, 'V4_ONLY');
    return answer.kind === 'addresses' && answer.addresses;
  };

  assert.deepEqual(await found('dB'), ['10.9.9.9', '10.9.9.8']);
  await writeFile(hostsPath, '10.9.9.77 db\n');
  assert.deepEqual(await found('db'), ['10.9.9.77']);
  assert.deepEqual(server.questions, []);
});

test('localhost is the loopback address without a question', async (t) => {
  const server = await NameServer.start(t);
  const resolver = await resolverFor(t, server, { hosts: '127.0.0.1 localhost\n' });
  const auto = await resolver.lookup('localhost', 'AUTO');
  const v4 = await resolver.lookup('app.localhost', 'V4_ONLY');
  assert.deepEqual(auto.kind === 'addresses' && auto.addresses, ['::1']);
  assert.deepEqual(v4.kind === 'addresses' && v4.addresses, ['127.0.0.1']);
  assert.deepEqual(server.questions, []);
});

test('short names are looked up in the search list, longer ones as they are first', async (t) => {
  const server = await NameServer.start(t);
  const resolvConf = 'nameserver 192.0.2.1\nsearch svc.test. test\noptions ndots:2 timeout:1\n';
  const resolver = await resolverFor(t, server, { resolvConf });
  server.zone.set('api.prod.test', { addresses: ['10.0.0.1'] });

  const answer = await resolver.lookup('api.prod', 'V4_ONLY');

  assert.deepEqual(answer.kind === 'addresses' && answer.addresses, ['10.0.0.1']);
  assert.deepEqual(server.questions, ['api.prod.svc.test A', 'api.prod.test A']);
  server.questions.length = 0;
  await resolver.lookup('a.b.c', 'V4_ONLY');
  assert.deepEqual(server.questions, ['a.b.c A', 'a.b.c.svc.test A', 'a.b.c.test A']);
  server.questions.length = 0;
  await resolver.lookup('api.prod.', 'V4_ONLY');
  assert.deepEqual(server.questions, ['api.prod A']);
});
