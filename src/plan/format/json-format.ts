// Formats whose lines are JSON: an object whose texts are substitution formats.
import { isObject, type PlainObject } from '../../config/values/objects.js';
import { compileFormat, type FormatError, type FormatUse, type OwnOperators } from './format.js';
import {
  FormatPiece_Operator as Operator,
  JsonFormat_Kind as Kind,
  type JsonFormat,
} from '../plan.gen.js';

export type JsonFormatResult = { readonly json: JsonFormat } | FormatError;

/** Where texts are, and which operators are known there besides. */
interface Where {
  readonly use: FormatUse;
  readonly own: OwnOperators | undefined;
}

export function compileJsonFormat(
  object: PlainObject,
  use: FormatUse,
  own?: OwnOperators,
): JsonFormatResult {
  return compileValue(object, { use, own });
}

function compileValue(value: unknown, use: Where): JsonFormatResult {
  if (typeof value === 'string') return compileText(value, use);
  if (typeof value === 'number') return { json: { literal: shortestNumber(value) } };
  if (Array.isArray(value)) return compileItems(Kind.LIST, [...value.entries()], use);
  if (isObject(value)) {
    const members = Object.entries(value).toSorted(([a], [b]) => compareBytes(a, b));
    return compileItems(Kind.OBJECT, members, use);
  }
  if (value === null) return { json: { kind: Kind.NULL } };
  return { json: { literal: String(value as boolean) } };
}

/** A text that is one operator keeps the type of its value. */
function compileText(text: string, where: Where): JsonFormatResult {
  const result = compileFormat(text, where.use, where.own);
  if ('error' in result) return result;
  const { pieces = [] } = result.format;
  const isLiteral = (pieces[0]?.operator ?? Operator.LITERAL) === Operator.LITERAL;
  if (pieces.length === 1 && !isLiteral) return { json: { kind: Kind.VALUE, pieces } };
  return { json: { kind: Kind.TEXT, pieces } };
}

function compileItems(
  kind: Kind,
  entries: readonly (readonly [string | number, unknown])[],
  use: Where,
): JsonFormatResult {
  const items: JsonFormat[] = [];
  for (const [key, value] of entries) {
    const result = compileValue(value, use);
    if ('error' in result) return result;
    items.push(
      typeof key === 'string' ? { ...result.json, key: JSON.stringify(key) } : result.json,
    );
  }
  return { json: { kind, items } };
}

const compareBytes = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));

/** As C++ prints a double: with or without an exponent, whichever is shorter. */
function shortestNumber(value: number): string {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  const digits = String(Math.abs(power)).padStart(2, '0');
  const scientific = `${mantissa}e${power < 0 ? '-' : '+'}${digits}`;
  const decimals = Math.max(0, mantissa.replace(/^-?\d\.?/, '').length - power);
  const plain = Number.isInteger(value)
    ? BigInt(value).toString()
    : value.toFixed(Math.min(decimals, 100));
  return plain.length <= scientific.length ? plain : scientific;
}
