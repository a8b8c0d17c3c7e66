// Questions for addresses and their answers, as DNS has them on the wire (RFC 1035, RFC 3596). What
// comes is bounds-checked: nothing of a message is trusted.

export interface AddressRecord {
  readonly address: string;
  /** In seconds. */
  readonly ttl: number;
}

/** Of a message: its number, and what it says. `code`: as Node's own resolver has it. */
export type DnsResponse =
  | { readonly id: number; readonly records: readonly AddressRecord[] }
  | { readonly id: number; readonly code: string };

const HEADER_BYTES = 12;
const IS_ANSWER = 0x8000;
const RECURSION_DESIRED = 0x0100;
const CLASS_IN = 1;
const POINTER = 0xc0;
const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 255;
export const TYPES = { 4: 1, 6: 28 } as const;
const ADDRESS_BYTES = { 4: 4, 6: 16 } as const;
const RESPONSE_CODES: Readonly<Record<number, string>> = {
  1: 'EFORMERR',
  2: 'ESERVFAIL',
  3: 'ENOTFOUND',
  4: 'ENOTIMP',
  5: 'EREFUSED',
};

/** Undefined: it is no name that DNS could know. */
export function encodeQuestion(id: number, name: string, family: 4 | 6): Buffer | undefined {
  const labels = name
    .replace(/\.$/, '')
    .split('.')
    .map((label) => Buffer.from(label, 'latin1'));
  const bytes = labels.reduce((sum, label) => sum + label.length + 1, 1);
  const isOdd = labels.some(({ length }) => length === 0 || length > MAX_LABEL_BYTES);
  if (isOdd || bytes > MAX_NAME_BYTES) return undefined;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(RECURSION_DESIRED, 2);
  header.writeUInt16BE(1, 4);
  const end = Buffer.alloc(5);
  end.writeUInt16BE(TYPES[family], 1);
  end.writeUInt16BE(CLASS_IN, 3);
  const text = labels.flatMap((label) => [Buffer.from([label.length]), label]);
  return Buffer.concat([header, ...text, end]);
}

/** Undefined: it is no answer. */
export function decodeResponse(message: Buffer, family: 4 | 6): DnsResponse | undefined {
  if (message.length < HEADER_BYTES) return undefined;
  const id = message.readUInt16BE(0);
  const flags = message.readUInt16BE(2);
  if ((flags & IS_ANSWER) === 0) return undefined;
  const status = flags & 0xf;
  if (status !== 0) return { id, code: RESPONSE_CODES[status] ?? 'EBADRESP' };
  let at: number | undefined = HEADER_BYTES;
  for (let left = message.readUInt16BE(4); left > 0 && at !== undefined; left--) {
    at = afterName(message, at);
    if (at !== undefined) at += 4;
  }
  const records: AddressRecord[] = [];
  for (let left = message.readUInt16BE(6); left > 0; left--) {
    at = at === undefined ? undefined : afterName(message, at);
    if (at === undefined || at + 10 > message.length) return { id, code: 'EBADRESP' };
    const type = message.readUInt16BE(at);
    const isOfNet = message.readUInt16BE(at + 2) === CLASS_IN;
    const ttl = message.readUInt32BE(at + 4);
    const begin: number = at + 10;
    const end = begin + message.readUInt16BE(at + 8);
    if (end > message.length) return { id, code: 'EBADRESP' };
    // Names that stand for others come with what those have.
    if (isOfNet && type === TYPES[family] && end - begin === ADDRESS_BYTES[family]) {
      records.push({ address: textOf(message.subarray(begin, end)), ttl });
    }
    at = end;
  }
  return records.length > 0 ? { id, records } : { id, code: 'ENODATA' };
}

/** Where a name ends; undefined: beyond the message. */
function afterName(message: Buffer, begin: number): number | undefined {
  let at = begin;
  while (at < message.length) {
    const length = message[at]!;
    if (length === 0) return at + 1;
    if ((length & POINTER) === POINTER) return at + 2 <= message.length ? at + 2 : undefined;
    at += length + 1;
  }
  return undefined;
}

function textOf(bytes: Buffer): string {
  if (bytes.length === ADDRESS_BYTES[4]) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16));
  // As URLs write it: with the longest row of zeros left out.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
