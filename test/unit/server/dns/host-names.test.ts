import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { HostNamesPlan } from '../../../../src/plan/cluster/cluster-plan.js';
import type { NameAnswer } from '../../../../src/plan/plan.gen.js';
import { HostNames } from '../../../../src/server/dns/host-names.js';
import type { DnsAnswer } from '../../../../src/server/dns/name-resolver.js';
import { joinName, splitName } from '../../../../src/server/dns/name-text.js';

const PLAN: HostNamesPlan = {
  cache: { name: 'c', stat_prefix: 'dns_cache.c.' },
  lookup: 'V4_ONLY',
  refreshMs: 1000,
  minRefreshMs: 500,
  forgetsFailures: false,
  ttlMs: 5000,
  queryTimeoutMs: 0,
  atOnce: [],
};

/** A cache with the answers that come, and the age of each name. */
function cacheWith(answer: () => DnsAnswer, plan: Partial<HostNamesPlan> = {}) {
  const answers: NameAnswer[] = [];
  const counts = new Map<string, number>();
  const state = { ageMs: 0, asked: [] as string[] };
  const names = new HostNames(
    { ...PLAN, ...plan },
    {
      lookup: (name) => {
        state.asked.push(name);
        return Promise.resolve(answer());
      },
      count: (stat) => counts.set(stat, (counts.get(stat) ?? 0) + 1),
      setGauge: (stat, value) => counts.set(stat, value),
      ageMs: () => state.ageMs,
      onAnswer: (one) => answers.push(one),
    },
  );
  return { names, answers, counts, state };
}

const found = (...addresses: string[]): DnsAnswer => ({ kind: 'addresses', addresses, ttlMs: 0 });
const turns = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};
const withTimers = (context: TestContext): void =>
  context.mock.timers.enable({ apis: ['setTimeout'] });

test('a name is looked up once, and is a host from then on', async () => {
  const { names, answers, counts, state } = cacheWith(() => found('192.0.2.1'));
  await names.look('a.test:80');
  await names.look('a.test:80');
  assert.deepEqual(state.asked, ['a.test']);
  assert.deepEqual(answers[0], { cache: 'c', name: 'a.test:80', failure: '' });
  const [host] = names.hosts;
  assert.equal(host?.hostname, 'a.test:80');
  assert.equal(host.address?.port, 80);
  assert.equal(host.is_named, true);
  assert.equal(counts.get('num_hosts'), 1);
  assert.equal(counts.get('host_address_changed'), 1);
  names.stop();
});

test('a name that is not there is known, too, and is no host', async () => {
  const { names, answers, counts } = cacheWith(() => ({ kind: 'none' }));
  await names.look('nobody.test:80');
  assert.equal(answers[0]?.failure, 'cares_norecords:Domain_name_not_found');
  assert.deepEqual(names.hosts, []);
  assert.equal(counts.get('dns_query_success'), 1);
  names.stop();
});

test('it is asked for again as long as somebody wants it, and keeps its address where that fails', async (context) => {
  withTimers(context);
  let answer: DnsAnswer = found('192.0.2.1');
  const { names, answers, counts, state } = cacheWith(() => answer);
  await names.look('a.test:80');
  answer = { kind: 'failed', reason: 'ETIMEOUT' };
  context.mock.timers.tick(1000);
  await turns();
  assert.equal(names.hosts.length, 1);
  assert.equal(counts.get('dns_query_failure'), 1);
  answer = found('192.0.2.2');
  context.mock.timers.tick(1000);
  await turns();
  assert.equal(answers.length, 2);
  state.ageMs = 6000;
  context.mock.timers.tick(1000);
  assert.deepEqual(answers.at(-1), { cache: 'c', name: 'a.test:80', is_removed: true });
  assert.deepEqual(names.hosts, []);
  assert.equal(counts.get('host_removed'), 1);
});

test('an answer that takes too long is a failure of its own', async (context) => {
  withTimers(context);
  const answers: NameAnswer[] = [];
  const counted: string[] = [];
  const names = new HostNames(
    { ...PLAN, queryTimeoutMs: 50 },
    {
      lookup: () => new Promise(() => undefined),
      count: (stat) => counted.push(stat),
      setGauge: () => undefined,
      ageMs: () => 0,
      onAnswer: (one) => answers.push(one),
    },
  );
  const looked = names.look('a.test:80');
  context.mock.timers.tick(50);
  await looked;
  assert.equal(answers[0]?.failure, 'resolve_timeout');
  assert.deepEqual(counted, [
    'host_added',
    'dns_query_attempt',
    'dns_query_timeout',
    'dns_query_failure',
  ]);
  names.stop();
});

test('names have their ports with them, and IPv6 has its brackets', () => {
  assert.deepEqual(splitName('a.test:80'), { host: 'a.test', port: 80 });
  assert.deepEqual(splitName('[::1]:443'), { host: '::1', port: 443 });
  assert.equal(joinName({ host: '::1', port: 443 }), '[::1]:443');
});
