// This machine's own address: what stands for a client on loopback, as in x-forwarded-for.
import { networkInterfaces } from 'node:os';

const LOOPBACK = { v4: '127.0.0.1', v6: '::1' } as const;

/** The first address that others can reach, of this version; loopback where there is none. */
export function localAddress(version: 'v4' | 'v6'): string {
  const family = version === 'v4' ? 'IPv4' : 'IPv6';
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const isReachable = (address: string): boolean => !address.startsWith('fe80:');
  const found = addresses.find(
    (known) => known.family === family && !known.internal && isReachable(known.address),
  );
  return found?.address ?? LOOPBACK[version];
}
