// The names that a certificate is for.
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
    names.push({ type, value: value.startsWith('"') ? (JSON.parse(value) as string) : value });
  }
  return names;
}
