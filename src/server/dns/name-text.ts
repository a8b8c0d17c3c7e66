// Names as requests ask for them, with their ports.
import type { AskedName } from '../../plan/cluster/cluster-plan.js';

/** "name:80", "[::1]:80" */
export function splitName(name: string): AskedName {
  const colon = name.lastIndexOf(':');
  const host = name.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(name.slice(colon + 1)) };
}

export function joinName({ host, port }: AskedName): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
