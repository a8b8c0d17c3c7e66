// Substitution formats ("%REQ(:PATH)% took %DURATION% ms"): text and operators as a list of pieces.
import { NOT_YET, OPERATORS, type Compiled, type FormatUse } from './format-operators.js';
import { nearestName } from '../../base/suggest.js';
import { FormatPiece_Operator as Operator, type Format, type FormatPiece } from '../plan.gen.js';

export type { FormatUse } from './format-operators.js';

/** What is wrong, in the real server's words where it has some. */
export interface FormatError {
  readonly error: string;
  readonly suggestion?: string;
}
export type FormatResult = { readonly format: Format } | FormatError;

/** Gives values to operators that the place of the format knows ("METADATA(ROUTE:a:b)"). */
export type OwnOperators = (
  name: string,
  argument: string,
  length?: number,
) => Compiled | undefined;

/** A length is a number of 64 bits. */
const LONGEST = 2n ** 64n;

const COMMAND = /%([A-Z0-9_]+)(?:\(([^\n]*?)\))?(?::([0-9]+))?%/y;

/** Compiles a format. `own` is asked first. */
export function compileFormat(text: string, use: FormatUse, own?: OwnOperators): FormatResult {
  const pieces: FormatPiece[] = [];
  let literal = '';
  const endLiteral = (): void => {
    if (literal !== '') pieces.push({ operator: Operator.LITERAL, argument: literal });
    literal = '';
  };
  for (let at = 0; at < text.length;) {
    const percent = text.indexOf('%', at);
    if (percent < 0) {
      literal += text.slice(at);
      break;
    }
    literal += text.slice(at, percent);
    if (text[percent + 1] === '%') {
      literal += '%';
      at = percent + 2;
      continue;
    }
    COMMAND.lastIndex = percent;
    const match = COMMAND.exec(text);
    if (!match || BigInt(match[3] ?? 0) >= LONGEST) {
      return {
        error: `Incorrect configuration: ${text}. Couldn't find valid command at position ${percent}`,
        suggestion: '%%',
      };
    }
    const [whole, name = '', argument = '', length] = match;
    const piece =
      own?.(name, argument, length === undefined ? undefined : Number(length)) ??
      compileCommand(name, argument, length, use);
    if ('error' in piece) return piece;
    // Text that is known already joins what stands around it.
    if ((piece.operator ?? Operator.LITERAL) === Operator.LITERAL) {
      literal += piece.argument ?? '';
    } else {
      endLiteral();
      pieces.push(piece);
    }
    at = percent + whole.length;
  }
  endLiteral();
  return { format: { pieces } };
}

function compileCommand(
  name: string,
  argument: string,
  lengthText: string | undefined,
  use: FormatUse,
): FormatPiece | FormatError {
  if (name === 'COALESCE') return compileCoalesce(argument, lengthOf(lengthText), use);
  const rule = OPERATORS.get(name);
  if (!rule) {
    if (NOT_YET.has(name)) return { error: `the operator %${name}% is not supported yet` };
    const suggestion = nearestName(name, OPERATORS.keys());
    return {
      error: `Not supported field in StreamInfo: ${name}`,
      ...(suggestion && { suggestion }),
    };
  }
  const length = lengthOf(lengthText);
  if (rule.argument === 'none' && (argument !== '' || length !== undefined)) {
    return { error: `${name} does not take any parameters or length` };
  }
  if (rule.argument === 'required' && argument === '')
    return { error: `${name} requires parameters` };
  if (!rule.lengthAllowed && length !== undefined) {
    return { error: `${name} does not allow length to be specified.` };
  }
  return rule.compile({ name, argument, length, use });
}

/** More than any text has is any number. */
function lengthOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Math.min(Number(text), 0xffff_fffe);
}

interface CoalescedOperator {
  readonly command?: unknown;
  readonly param?: unknown;
  readonly max_length?: unknown;
}

/** The first of several operators that has a value. */
function compileCoalesce(
  argument: string,
  length: number | undefined,
  use: FormatUse,
): FormatPiece | FormatError {
  if (argument === '') return { error: 'COALESCE requires parameters' };
  let json: unknown;
  try {
    json = JSON.parse(argument);
  } catch (error) {
    return { error: `COALESCE: failed to parse JSON configuration: ${(error as Error).message}` };
  }
  const operators = (json as { readonly operators?: unknown } | null)?.operators;
  if (operators === undefined) {
    return { error: "COALESCE: JSON configuration must contain 'operators' array" };
  }
  if (!Array.isArray(operators)) return { error: "COALESCE: 'operators' must be an array" };
  if (operators.length === 0) return { error: "COALESCE: 'operators' array must not be empty" };
  const alternatives: FormatPiece[] = [];
  for (const [index, entry] of operators.entries()) {
    const piece = compileCoalesced(entry, use);
    if ('error' in piece) {
      return { error: `COALESCE: failed to parse operator at index ${index}: ${piece.error}` };
    }
    alternatives.push(piece);
  }
  return { operator: Operator.COALESCE, alternatives, max_length: length };
}

function compileCoalesced(entry: unknown, use: FormatUse): FormatPiece | FormatError {
  const isText = typeof entry === 'string';
  if (!isText && (typeof entry !== 'object' || entry === null || Array.isArray(entry))) {
    return {
      error:
        "operator entry must be either a string (command name) or an object with 'command' field",
    };
  }
  const { command, param, max_length }: CoalescedOperator = isText ? { command: entry } : entry;
  if (typeof command !== 'string') return { error: "operator object must have 'command' field" };
  if (param !== undefined && typeof param !== 'string') {
    return { error: "'param' field must be a string" };
  }
  if (max_length !== undefined && !Number.isInteger(max_length)) {
    return { error: "'max_length' field must be an integer" };
  }
  if (max_length !== undefined && (max_length as number) <= 0) {
    return { error: "'max_length' must be a positive integer" };
  }
  const length = max_length === undefined ? undefined : String(max_length as number);
  const piece = compileCommand(command, param ?? '', length, use);
  return 'error' in piece && piece.error.startsWith('Not supported field')
    ? { error: `unknown command: '${command}'` }
    : piece;
}
