// Names → addresses, as c-ares in the real server finds them: literal addresses, the hosts file,
// localhost, then DNS with the search list of resolv.conf.
import { getServers, lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { LookupFamily } from '../../plan/cluster/dns-cluster.js';
import type { ResolverPlan } from '../../plan/dns-resolver.js';
import { CachedFile } from './cached-file.js';
import { candidatesOf, parseHosts, parseResolvConf } from './system-files.js';

/** What became of a question. `none`: the name, or an address of the kind, does not exist. */
export type DnsAnswer =
  | {
      readonly kind: 'addresses';
      /** In the order of the answer, each once. */
      readonly addresses: readonly string[];
      /** The shortest of all; 0: unknown. */
      readonly ttlMs: number;
    }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface NameResolverOptions {
  /** Instead of the servers in resolv.conf: "192.0.2.1" or "192.0.2.1:5353". */
  readonly servers?: readonly string[];
  /** The search list of resolv.conf is left alone. */
  readonly hasNoSearch?: boolean;
  /** Servers are asked by TCP. */
  readonly usesTcp?: boolean;
  /** The system's library is asked for all of it. */
  readonly isOfSystem?: boolean;
  readonly hostsPath?: string;
  readonly resolvConfPath?: string;
  /** Of the first try; each further one waits longer. */
  readonly timeoutMs?: number;
  readonly tries?: number;
}

/** Who counts questions: one for each name and kind of address. */
export interface DnsQuestions {
  begins(): void;
  ends(answer: DnsAnswer): void;
  /** Of a name, whatever the kinds of address: no server takes questions. */
  refused(): void;
}

type Family = 4 | 6;

const NONE: DnsAnswer = { kind: 'none' };
const LOOPBACK: Readonly<Record<Family, string>> = { 4: '127.0.0.1', 6: '::1' };

export class NameResolver {
  readonly #options: NameResolverOptions;
  readonly #hosts: CachedFile<ReturnType<typeof parseHosts>>;
  readonly #conf: CachedFile<ReturnType<typeof parseResolvConf>>;
  #resolver: Resolver | undefined;
  #confText: string | undefined;

  constructor(options: NameResolverOptions = {}) {
    this.#options = options;
    this.#hosts = new CachedFile(options.hostsPath ?? '/etc/hosts', parseHosts);
    this.#conf = new CachedFile(options.resolvConfPath ?? '/etc/resolv.conf', parseResolvConf);
  }

  /** Never rejects. */
  async lookup(name: string, family: LookupFamily, questions?: DnsQuestions): Promise<DnsAnswer> {
    const answer = await this.#lookup(name, family, questions);
    if (answer.kind === 'failed' && answer.reason === 'ECONNREFUSED') questions?.refused();
    return answer;
  }

  async #lookup(name: string, family: LookupFamily, questions?: DnsQuestions): Promise<DnsAnswer> {
    const ask = async (answer: () => Promise<DnsAnswer>): Promise<DnsAnswer> => {
      questions?.begins();
      const got = await answer();
      questions?.ends(got);
      return got;
    };
    const one = (kind: Family) => ask(() => this.#lookupFamily(name, kind));
    const literal = isIP(name);
    if (literal !== 0) {
      return ask(() => Promise.resolve(literalAnswer(name, literal as Family, family)));
    }
    switch (family) {
      case 'V4_ONLY':
        return one(4);
      case 'V6_ONLY':
        return one(6);
      case 'V4_PREFERRED':
        return either(one, 4, 6);
      case 'AUTO':
        return either(one, 6, 4);
      case 'ALL':
        return ask(async () =>
          both(await Promise.all([this.#lookupFamily(name, 4), this.#lookupFamily(name, 6)])),
        );
    }
  }

  /** Questions that are under way fail. */
  cancel(): void {
    this.#resolver?.cancel();
  }

  async #lookupFamily(name: string, family: Family): Promise<DnsAnswer> {
    if (this.#options.isOfSystem) return askSystem(name, family);
    const plain = name.toLowerCase().replace(/\.$/, '');
    const listed = (await this.#hosts.read()).get(plain) ?? [];
    const addresses = listed.filter((address) => isIP(address) === family);
    if (addresses.length > 0) return { kind: 'addresses', addresses, ttlMs: 0 };
    if (plain === 'localhost' || plain.endsWith('.localhost')) {
      return { kind: 'addresses', addresses: [LOOPBACK[family]], ttlMs: 0 };
    }
    const conf = await this.#conf.read();
    const resolver = this.#resolverFor(conf.text);
    const candidates = this.#options.hasNoSearch ? [name] : candidatesOf(name, conf);
    for (const candidate of candidates) {
      const answer = await query(resolver, candidate, family);
      if (answer.kind !== 'none') return answer;
    }
    return NONE;
  }

  /** The resolver takes its servers from resolv.conf when it is made. */
  #resolverFor(confText: string): Resolver {
    if (this.#resolver !== undefined && this.#confText === confText) return this.#resolver;
    const { servers, timeoutMs = 2_000, tries = 3 } = this.#options;
    const resolver = this.#options.usesTcp
      ? overTcp(() => new Resolver({ timeout: timeoutMs, tries }))
      : new Resolver({ timeout: timeoutMs, tries });
    if (servers !== undefined) resolver.setServers(servers);
    this.#resolver = resolver;
    this.#confText = confText;
    return resolver;
  }
}

/** c-ares is told by its environment alone, which it reads as a resolver is made. */
function overTcp(make: () => Resolver): Resolver {
  const { RES_OPTIONS: before } = process.env;
  process.env['RES_OPTIONS'] = before === undefined ? 'use-vc' : `${before} use-vc`;
  try {
    return make();
  } finally {
    if (before === undefined) delete process.env['RES_OPTIONS'];
    else process.env['RES_OPTIONS'] = before;
  }
}

/** Without addresses of the first family the second alone decides. */
async function either(
  ask: (family: Family) => Promise<DnsAnswer>,
  first: Family,
  second: Family,
): Promise<DnsAnswer> {
  const answer = await ask(first);
  return answer.kind === 'addresses' ? answer : ask(second);
}

/** As c-ares, which takes an address of IPv4 for whatever is asked for. */
function literalAnswer(address: string, version: Family, family: LookupFamily): DnsAnswer {
  if (version === 6 && family === 'V4_ONLY') {
    return { kind: 'failed', reason: 'an IPv6 address where V4_ONLY is asked for' };
  }
  return { kind: 'addresses', addresses: [address], ttlMs: 0 };
}

function both(answers: readonly DnsAnswer[]): DnsAnswer {
  const found = answers.filter((answer) => answer.kind === 'addresses');
  if (found.length === 0) return answers.find((answer) => answer.kind === 'failed') ?? NONE;
  return {
    kind: 'addresses',
    addresses: found.flatMap((answer) => answer.addresses),
    ttlMs: Math.min(...found.map((answer) => answer.ttlMs)),
  };
}

/** A resolver as a configuration has it. */
export function resolverOf({ servers, areFallback, ...rest }: ResolverPlan): NameResolver {
  const uses = servers.length > 0 && !(areFallback && getServers().length > 0);
  return new NameResolver({ ...rest, ...(uses && { servers }) });
}

async function askSystem(name: string, family: Family): Promise<DnsAnswer> {
  try {
    const found = await lookup(name, { all: true, family });
    const addresses = [...new Set(found.map(({ address }) => address))];
    return addresses.length > 0 ? { kind: 'addresses', addresses, ttlMs: 0 } : NONE;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    return code === 'ENOTFOUND' || code === 'ENODATA' ? NONE : { kind: 'failed', reason: code };
  }
}

async function query(resolver: Resolver, name: string, family: Family): Promise<DnsAnswer> {
  try {
    const records = await (family === 4
      ? resolver.resolve4(name, { ttl: true })
      : resolver.resolve6(name, { ttl: true }));
    if (records.length === 0) return NONE;
    return {
      kind: 'addresses',
      addresses: [...new Set(records.map((record) => record.address))],
      ttlMs: Math.min(...records.map((record) => record.ttl)) * 1000,
    };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code === 'ENOTFOUND' || code === 'ENODATA') return NONE;
    return { kind: 'failed', reason: code };
  }
}
