// A monitor of hosts by DNS, what it tells, and a name server to ask.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { DnsClusterPlan } from '../../../../src/plan/cluster/dns-cluster.js';
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
export class NameServer {
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

export async function resolverFor(
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

export function planOf(
  names: readonly string[],
  changes: Partial<DnsClusterPlan> = {},
): DnsClusterPlan {
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
export class Watched {
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
        refused: () => void this.asked.push('refused'),
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
export async function until(condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 5_000; !condition();) {
    assert.ok(Date.now() < deadline, 'it does not become true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
