// The names that a certificate is for.
import { formatIp, parseIp } from '../plan/address/ip.js';
import type { SubjectTest } from '../plan/service-plan.js';

const TYPES: Readonly<Record<string, SubjectTest['type']>> = {
  DNS: 'DNS',
  URI: 'URI',
  email: 'EMAIL',
  'IP Address': 'IP_ADDRESS',
};

/** Of 'DNS:a.example, URI:"spiffe://x, y"': what could be misread is a JSON text. */
export function alternativeNames(
  text: string,
): readonly { readonly type: SubjectTest['type']; readonly value: string }[] {
  const names: { type: SubjectTest['type']; value: string }[] = [];
  for (const [, label = '', value = ''] of text.matchAll(
    /([A-Za-z ]+?):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g,
  )) {
    const type = TYPES[label];
    if (!type) continue;
    const plain = value.startsWith('"') ? (JSON.parse(value) as string) : value;
    names.push({ type, value: type === 'IP_ADDRESS' ? canonicalIp(plain) : plain });
  }
  return names;
}

/** OpenSSL writes "FD00:0:0:0:0:0:0:1" where everybody else writes "fd00::1". */
function canonicalIp(text: string): string {
  const bytes = parseIp(text);
  return bytes ? formatIp(bytes) : text;
}
