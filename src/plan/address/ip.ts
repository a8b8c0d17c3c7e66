// IP addresses as the kernel has them: 4 or 16 bytes in network order.
// node:net takes as long to load as all that a small bootstrap needs: only IPv6 is left to it.
import { createRequire } from 'node:module';
import type Net from 'node:net';

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);

const net = (): typeof Net => createRequire(import.meta.url)('node:net') as typeof Net;

/** The bytes of "192.0.2.1" or "2001:db8::1"; undefined for anything else, zones included. */
export function parseIp(text: string): Uint8Array | undefined {
  if (IPV4.test(text)) return Uint8Array.from(text.split('.'), Number);
  if (!text.includes(':') || !net().isIPv6(text) || text.includes('%')) return undefined;
  // A dotted tail is two groups.
  const groups = text.replace(/\d+\.\d+\.\d+\.\d+$/, (tail) => {
    const [a, b, c, d] = tail.split('.').map(Number) as [number, number, number, number];
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = '', tail = ''] = groups.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  const numbers = [...first, ...zeros, ...last].map((group) => parseInt(group, 16));
  return Uint8Array.from(numbers.flatMap((number) => [number >> 8, number & 0xff]));
}

/** The canonical text: "::1", never "0:0:0:0:0:0:0:1". */
export function formatIp(ip: Uint8Array): string {
  if (ip.length === 4) return ip.join('.');
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((ip[2 * i]! << 8) | ip[2 * i + 1]!).toString(16),
  );
  const { SocketAddress } = net();
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}
