// What a typo, a bad merge or a careless hand makes of a good bootstrap.
import { isObject, type PlainObject } from '../../../src/config/values/objects.js';

const FRAGMENTS = [
  ' ',
  '\n',
  '\n  ',
  '- ',
  ': ',
  ':',
  '#',
  '"',
  "'",
  '{',
  '}',
  '[',
  ']',
  ',',
  '|',
  '>',
  '&a ',
  '*a',
  '!t ',
  '?',
  '%',
  '@',
  '\t',
  '\0',
  '\ufeff',
  '\ud800',
  '😀',
  '-1',
  '1e999',
  '99999999999999999999',
  'null',
  '~',
  'true',
  '.inf',
  'NaN',
  '1s',
  '__proto__',
  'constructor',
  '"@type"',
  '@type: x',
  'typed_config',
  '*admin',
  '<<: *admin',
  '---\n',
  '...\n',
  '{a: '.repeat(300),
  '[[[[',
  'type.googleapis.com/google.protobuf.Any',
  'type.googleapis.com/xds.type.v3.TypedStruct',
  '$type',
  '\\u0000',
  '{}',
  '[]',
];

/** A number from 0 on. */
export type Random = (below: number) => number;

/** Marsaglia's xorshift: the same numbers on every machine. */
export function randomNumbers(seed: number): Random {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Characters that are gone, repeated, replaced, or in between. */
export function mutatedText(text: string, random: Random): string {
  let result = text;
  for (let count = 1 + random(4); count > 0; count--) {
    const at = random(result.length + 1);
    const other = random(result.length + 1);
    const length = random(40);
    const kind = random(5);
    if (kind === 0) result = result.slice(0, at) + result.slice(at + length);
    else if (kind === 1)
      result = result.slice(0, at) + result.slice(other, other + length) + result.slice(at);
    else if (kind === 2)
      result = result.slice(0, at) + String.fromCharCode(random(256)) + result.slice(at + 1);
    else
      result = result.slice(0, at) + (FRAGMENTS[random(FRAGMENTS.length)] ?? '') + result.slice(at);
  }
  return result;
}

/** Bytes that are others, gone, repeated, or cut off. */
export function mutatedBytes(bytes: Buffer, random: Random): Buffer {
  let result = bytes;
  for (let count = 1 + random(3); count > 0; count--) {
    const at = random(result.length + 1);
    const other = random(result.length + 1);
    const kind = random(4);
    const head = result.subarray(0, at);
    if (kind === 0) result = Buffer.from([...head, random(256), ...result.subarray(at + 1)]);
    else if (kind === 1) result = Buffer.concat([head, result.subarray(at + random(4))]);
    else if (kind === 2)
      result = Buffer.concat([head, result.subarray(other, other + 40), result.subarray(at)]);
    else if (random(8) === 0) result = head;
  }
  return result;
}

const SCALARS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  99,
  65_536,
  4_294_967_296,
  1.5,
  1e300,
  '',
  'x',
  'a b',
  '*',
  '/',
  '%',
  '%REQ(x)%',
  '(',
  'a{1001}',
  '-1s',
  '0s',
  '1s',
  '9999999999999s',
  '0.0000001s',
  'STATIC',
  'EDS',
  'HIGH',
  '127.0.0.1',
  '::',
  'localhost',
  '18446744073709551616',
  'type.googleapis.com/google.protobuf.Empty',
  [],
  {},
  [[]],
  [null],
  { '@type': '' },
];

type Holder = PlainObject | unknown[];

/** A copy of a value read from JSON of which one to three parts are gone, moved or something else. */
export function mutatedValue(value: PlainObject, random: Random): PlainObject {
  const copy = structuredClone(value);
  for (let count = 1 + random(3); count > 0; count--) mutateOnce(copy, random);
  return copy;
}

function mutateOnce(root: PlainObject, random: Random): void {
  const spots = [...spotsOf(root)];
  const [holder, key] = spots[random(spots.length)] ?? [root, 'node'];
  const [other, otherKey] = spots[random(spots.length)] ?? [root, 'node'];
  const elsewhere = structuredClone(get(other, otherKey));
  switch (random(6)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      break;
    case 1:
      if (Array.isArray(holder)) holder.push(structuredClone(get(holder, key)));
      else holder[mistyped(key, random)] = get(holder, key);
      break;
    case 2:
      set(holder, key, elsewhere);
      break;
    case 3:
      if (Array.isArray(holder)) holder.push(elsewhere);
      else holder[otherKey] = elsewhere;
      break;
    default:
      set(holder, key, structuredClone(SCALARS[random(SCALARS.length)]));
  }
}

function* spotsOf(value: unknown): Iterable<readonly [Holder, string]> {
  if (!isObject(value) && !Array.isArray(value)) return;
  for (const key of Object.keys(value)) {
    yield [value as Holder, key];
    yield* spotsOf(get(value as Holder, key));
  }
}

const get = (holder: Holder, key: string): unknown =>
  Array.isArray(holder) ? holder[Number(key)] : holder[key];

function set(holder: Holder, key: string, value: unknown): void {
  if (Array.isArray(holder)) holder[Number(key)] = value;
  else holder[key] = value;
}

/** A name with a letter too many, or too few. */
function mistyped(name: string, random: Random): string {
  const at = random(name.length + 1);
  return random(2) === 0
    ? name.slice(0, at) + name.slice(at + 1)
    : `${name.slice(0, at)}e${name.slice(at)}`;
}
