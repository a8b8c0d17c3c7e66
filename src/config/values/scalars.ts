// proto3 JSON of single values, as leniently as Envoy reads it: numbers and booleans also as
// strings.
import type { EnumType, ValueType } from '../schema/schema.js';
import type { Scalar } from '../schema/scalar.js';

const INTEGER_RANGES: Readonly<Partial<Record<Scalar, readonly [number, number]>>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  sint32: [-(2 ** 31), 2 ** 31 - 1],
  sfixed32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  fixed32: [0, 2 ** 32 - 1],
  int64: [-(2 ** 63), 2 ** 63],
  sint64: [-(2 ** 63), 2 ** 63],
  sfixed64: [-(2 ** 63), 2 ** 63],
  uint64: [0, 2 ** 64],
  fixed64: [0, 2 ** 64],
};
const LARGEST_FLOAT = 3.4028234663852886e38;

const TRUE = /^(?:true|t|yes|y|1)$/i;
const FALSE = /^(?:false|f|no|n|0)$/i;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const HEXADECIMAL = /^([+-]?)(0x[\da-f]+)$/i;
const NOT_FINITE: Readonly<Record<string, number>> = {
  NaN,
  Infinity,
  '-Infinity': -Infinity,
};

/** The value, or undefined where it is not one of this type. */
export function parseScalar(scalar: Scalar, value: unknown): unknown {
  switch (scalar) {
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'bool':
      return parseBool(value);
    case 'bytes':
      return typeof value === 'string' ? parseBase64(value) : undefined;
    case 'double':
    case 'float':
      return parseReal(scalar, value);
    default:
      return parseInteger(scalar, value);
  }
}

export function describeScalar(scalar: Scalar): string {
  if (scalar === 'string') return 'a string';
  if (scalar === 'bool') return 'true or false';
  if (scalar === 'bytes') return 'bytes in base64';
  if (scalar === 'double' || scalar === 'float') return 'a number';
  if (scalar.endsWith('64'))
    return scalar.startsWith('u') ? 'an unsigned 64-bit integer' : 'a 64-bit integer';
  const [least, most] = INTEGER_RANGES[scalar] ?? [0, 0];
  return `an integer from ${least} to ${most}`;
}

export function defaultScalar(scalar: Scalar): unknown {
  if (scalar === 'string') return '';
  if (scalar === 'bool') return false;
  return scalar === 'bytes' ? new Uint8Array() : 0;
}

/** Whether a field without presence that has this value is as good as unset. */
export function isDefault(type: ValueType, value: unknown): boolean {
  if (value instanceof Uint8Array) return value.length === 0;
  if (type.kind === 'enum') return type.type.numbers.get(value as string) === 0;
  return value === 0 || value === false || value === '';
}

/**
 * The name of the value, given by name or number; names in any case. A number that has no name is
 * itself, as enums of proto3 are open.
 */
export function parseEnum(type: EnumType, value: unknown): string | number | undefined {
  if (typeof value === 'string' && !/^-?\d+$/.test(value)) return enumName(type, value);
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : NaN;
  return type.names.get(number) ?? parseInteger('int32', number);
}

function enumName(type: EnumType, value: string): string | undefined {
  if (type.numbers.has(value)) return value;
  const upper = value.toUpperCase();
  for (const name of type.numbers.keys()) if (name.toUpperCase() === upper) return name;
  return undefined;
}

function parseBool(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  if (TRUE.test(value)) return true;
  return FALSE.test(value) ? false : undefined;
}

function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  if (DECIMAL.test(value)) return Number(value);
  const hex = HEXADECIMAL.exec(value);
  return hex ? Number(hex[2]) * (hex[1] === '-' ? -1 : 1) : undefined;
}

const LONGEST_EXACT = 15;

function parseInteger(scalar: Scalar, value: unknown): number | undefined {
  const number = parseNumber(value);
  const isLong = typeof value === 'string' && value.length > LONGEST_EXACT;
  if (isLong && /^[+-]?\d+$/.test(value) && !isWithin64(scalar, BigInt(value))) return undefined;
  const [least, most] = INTEGER_RANGES[scalar] ?? [0, 0];
  if (number === undefined || !Number.isInteger(number)) return undefined;
  // -0 is 0: the plan and the printed form know no other.
  return number >= least && number <= most ? number + 0 : undefined;
}

/** Where a double cannot tell: whether the digits of a 64-bit integer are within its range. */
function isWithin64(scalar: Scalar, integer: bigint): boolean {
  const isUnsigned = scalar === 'uint64' || scalar === 'fixed64';
  return (isUnsigned ? BigInt.asUintN(64, integer) : BigInt.asIntN(64, integer)) === integer;
}

function parseReal(scalar: Scalar, value: unknown): number | undefined {
  if (typeof value === 'string' && Object.hasOwn(NOT_FINITE, value)) return NOT_FINITE[value];
  const number = parseNumber(value);
  if (number === undefined || !Number.isFinite(number)) return undefined;
  return scalar === 'float' && Math.abs(number) > LARGEST_FLOAT ? undefined : number;
}

/** Both alphabets; padding may be left out. */
function parseBase64(text: string): Uint8Array | undefined {
  if (!/^[\w+/-]*={0,2}$/.test(text)) return undefined;
  const letters = text.replace(/=+$/, '').length;
  if (letters % 4 === 1 || (text.endsWith('=') && text.length % 4 !== 0)) return undefined;
  return new Uint8Array(Buffer.from(text, 'base64'));
}
