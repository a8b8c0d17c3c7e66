// How clients on loopback are called in x-forwarded-for: by this machine's first other address.
import { networkInterfaces } from 'node:os';

export function localAddress(version: 'v4' | 'v6'): string {
  const family = version === 'v4' ? 'IPv4' : 'IPv6';
  for (const addresses of Object.values(networkInterfaces())) {
    const found = addresses?.find((address) => address.family === family && !address.internal && !address.address.startsWith('fe80'));
    if (found) return found.address;
  }
  return version === 'v4' ? '127.0.0.1' : '::1';
}
