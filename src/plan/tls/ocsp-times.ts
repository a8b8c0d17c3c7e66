// How long an OCSP response is good, read from its DER (RFC 6960, 4.2.1); whether it is one at all is
// OpenSSL's to say.
import type { OcspTimes } from '../service-plan.js';

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

const SEQUENCE = 0x30;
const OCTET_STRING = 0x04;
const GENERALIZED_TIME = 0x18;
const EXPLICIT_0 = 0xa0;

/** Undefined: there is none, or it says nothing of it. */
export function ocspTimes(der: Uint8Array): OcspTimes | undefined {
  // The response, its bytes, within them what is signed, and of that the first answer.
  const bytes = child(child(child(first(der, SEQUENCE), EXPLICIT_0), SEQUENCE), OCTET_STRING);
  const signed = child(first(bytes ?? new Uint8Array(), SEQUENCE), SEQUENCE);
  const answer = child(child(signed, SEQUENCE), SEQUENCE);
  const parts = elements(answer ?? new Uint8Array());
  const from = parts.find(({ tag }) => tag === GENERALIZED_TIME);
  // The status, which may have the same tag, stands before the times.
  const after = from ? parts.slice(parts.indexOf(from) + 1) : [];
  const until = child(after.find(({ tag }) => tag === EXPLICIT_0)?.content, GENERALIZED_TIME);
  if (!from) return undefined;
  return { validFromMs: timeOf(from.content), ...(until && { expirationMs: timeOf(until) }) };
}

const first = (der: Uint8Array, tag: number): Uint8Array | undefined =>
  elements(der).find((element) => element.tag === tag)?.content;

const child = (der: Uint8Array | undefined, tag: number): Uint8Array | undefined =>
  der && first(der, tag);

/** Those one after another in `der`; what is cut off is left out. */
function elements(der: Uint8Array): Element[] {
  const found: Element[] = [];
  for (let at = 0; at + 2 <= der.length;) {
    const tag = der[at] ?? 0;
    let size = der[at + 1] ?? 0;
    at += 2;
    if (size >= 0x80) {
      const bytes = size & 0x7f;
      size = der.subarray(at, at + bytes).reduce((sum, byte) => sum * 256 + byte, 0);
      at += bytes;
    }
    if (at + size > der.length) break;
    found.push({ tag, content: der.subarray(at, at + size) });
    at += size;
  }
  return found;
}

/** "20261123184134Z" */
function timeOf(content: Uint8Array): number {
  const text = Buffer.from(content).toString('latin1');
  return Date.parse(
    text.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d).*$/, '$1-$2-$3T$4:$5:$6Z'),
  );
}
