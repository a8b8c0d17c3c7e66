import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { DnsClusterPlan, LookupFamily } from '../../../../src/plan/cluster/dns-cluster.js';
import { formatIp, parseIp } from '../../../../src/plan/address/ip.js';
import type { Assignment } from '../../../../src/plan/plan.gen.js';
import { DnsMonitor, type DnsStat } from '../../../../src/server/dns/dns.js';
import { NameResolver, type DnsAnswer } from '../../../../src/server/dns/name-resolver.js';

/** Addresses, or what else the server says; 'silent': nothing at all. */
type Records = { readonly addresses: readonly string[]; readonly ttl?: number } | Failure;
type Failure = 'servfail' | 'nxdomain' | 'silent';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const CODES = { nxdomain: 3, servfail: 2 } as const;

/** A name server for one test: names → records of both types; others do not exist. */
class NameServer {
  readonly zone = new Map<string, Records>();
  readonly questions: string[] = [];
  readonly #socket: Socket = createSocket('udp4');

  static async start(t: TestContext): Promise<NameServer> {
    const server = new NameServer();
    server.#socket.on('message', (question, from) => {
      const reply = server.#replyTo(question);
      if (reply !== undefined) server.#socket.send(reply, from.port, from.address);
    });
    await new Promise<void>((resolve) => server.#socket.bind(0, '127.0.0.1', resolve));
    t.after(() => new Promise<void>((resolve) => server.#socket.close(() => resolve())));
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  #replyTo(question: Buffer): Buffer | undefined {
    const labels: string[] = [];
    let at = 12;
    for (let size = question[at]!; size > 0; size = question[at]!) {
      labels.push(question.toString('latin1', at + 1, at + 1 + size));
      at += 1 + size;
    }
    const type = question.readUInt16BE(at + 1);
    const name = labels.join('.').toLowerCase();
    this.questions.push(`${name} ${type === TYPE_A ? 'A' : 'AAAA'}`);
    const records = this.zone.get(name) ?? 'nxdomain';
    if (records === 'silent') return undefined;
    const code = typeof records === 'string' ? CODES[records] : 0;
    const answers = typeof records === 'string' ? [] : answersOf(records, type);
    const head = Buffer.alloc(10);
    head.writeUInt16BE(0x8180 | code, 0);
    head.writeUInt16BE(1, 2);
    head.writeUInt16BE(answers.length, 4);
    return Buffer.concat([
      question.subarray(0, 2),
      head,
      question.subarray(12, at + 5),
      ...answers,
    ]);
  }
}

function answersOf(records: Exclude<Records, Failure>, type: number): Buffer[] {
  return records.addresses
    .map((address) => parseIp(address)!)
    .filter((ip) => ip.length === (type === TYPE_A ? 4 : type === TYPE_AAAA ? 16 : 0))
    .map((ip) => {
      const answer = Buffer.alloc(12);
      answer.writeUInt16BE(0xc00c, 0);
      answer.writeUInt16BE(type, 2);
      answer.writeUInt16BE(1, 4);
      answer.writeUInt32BE(records.ttl ?? 5, 6);
      answer.writeUInt16BE(ip.length, 10);
      return Buffer.concat([answer, ip]);
    });
}

interface SystemFiles {
  readonly hosts?: string;
  readonly resolvConf?: string;
}

async function resolverFor(
  t: TestContext,
  server: NameServer,
  files: SystemFiles = {},
): Promise<NameResolver> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-dns-'));
  t.after(() => rm(folder, { recursive: true }));
  const hostsPath = join(folder, 'hosts');
  const resolvConfPath = join(folder, 'resolv.conf');
  await writeFile(hostsPath, files.hosts ?? '');
  await writeFile(resolvConfPath, files.resolvConf ?? '');
  const resolver = new NameResolver({
    servers: [server.address],
    hostsPath,
    resolvConfPath,
    timeoutMs: 300,
    tries: 1,
  });
  t.after(() => resolver.cancel());
  return resolver;
}

function planOf(names: readonly string[], changes: Partial<DnsClusterPlan> = {}): DnsClusterPlan {
  return {
    name: 'backend',
    kind: 'strict',
    lookup: 'V4_ONLY',
    refreshMs: 20,
    respectTtl: false,
    policy: { overprovisioning_factor_pct: 140 },
    endpoints: names.map((hostname, index) => ({
      hostname,
      port: 80 + index,
      host: { hostname, weight: 1 + index, zone: 'a' },
    })),
    ...changes,
  };
}

/** A monitor, and what it tells. */
class Watched {
  readonly assignments: Assignment[] = [];
  readonly maxWeights: number[] = [];
  readonly logs: string[] = [];
  /** Of questions: their begin, and the kind of their answer. */
  readonly asked: string[] = [];
  readonly #counts = new Map<DnsStat, number>();
  readonly monitor: DnsMonitor;

  constructor(t: TestContext, plan: DnsClusterPlan, resolver: NameResolver, random?: () => number) {
    const hooks = {
      onHosts: (assignment: Assignment) => void this.assignments.push(assignment),
      onMaxWeight: (weight: number) => void this.maxWeights.push(weight),
      count: (stat: DnsStat) => void this.#counts.set(stat, this.count(stat) + 1),
      log: (level: string, message: string) => void this.logs.push(`${level} ${message}`),
      questions: {
        begins: () => void this.asked.push('begins'),
        ends: ({ kind }: DnsAnswer) => void this.asked.push(kind),
      },
    };
    this.monitor = new DnsMonitor(plan, hooks, { resolver, ...(random && { random }) });
    t.after(() => this.monitor.stop());
  }

  count(stat: DnsStat): number {
    return this.#counts.get(stat) ?? 0;
  }

  /** Of the latest assignment: "10.0.0.1:80". */
  get hosts(): string[] {
    const { hosts = [] } = this.assignments.at(-1) ?? {};
    return hosts.map(({ address }) => `${formatIp(address!.ip!)}:${address!.port}`);
  }
}

/** Polls: refreshes are timers of the monitor. */
async function until(condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 5_000; !condition();) {
    assert.ok(Date.now() < deadline, 'it does not become true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

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
