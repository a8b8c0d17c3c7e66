// /etc/hosts and /etc/resolv.conf, as far as names are looked up in them. Pure.
import { isIP } from 'node:net';

/** Names in lower case → their addresses in the order of the file. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of linesOf(text, /#.*/)) {
    const [address = '', ...names] = line;
    if (isIP(address) === 0 || address.includes('%')) continue;
    for (const name of names.map((name) => name.toLowerCase())) {
      const addresses = hosts.get(name);
      if (addresses === undefined) hosts.set(name, [address]);
      else if (!addresses.includes(address)) addresses.push(address);
    }
  }
  return hosts;
}

export interface ResolvConf {
  /** Domains that short names are looked up in. */
  readonly search: readonly string[];
  /** A name with as many dots is first looked up as it is. */
  readonly ndots: number;
  /** The whole text: other servers may stand in it. */
  readonly text: string;
}

export function parseResolvConf(text: string): ResolvConf {
  let search: readonly string[] = [];
  let ndots = 1;
  for (const [keyword, ...values] of linesOf(text, /[#;].*/)) {
    // The last of several counts.
    if (keyword === 'search') search = values;
    if (keyword === 'domain') search = values.slice(0, 1);
    if (keyword !== 'options') continue;
    for (const value of values) {
      const digits = /^ndots:(\d+)$/.exec(value)?.[1];
      if (digits !== undefined) ndots = Math.min(Number(digits), 15);
    }
  }
  return { search: search.map((domain) => domain.replace(/\.$/, '')), ndots, text };
}

/** The full names to ask for, in order. */
export function candidatesOf(name: string, { search, ndots }: ResolvConf): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const longer = search.filter((domain) => domain !== '').map((domain) => `${name}.${domain}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...longer] : [...longer, name];
}

function linesOf(text: string, comment: RegExp): string[][] {
  return text
    .split('\n')
    .map((line) => line.replace(comment, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.split(/\s+/));
}
