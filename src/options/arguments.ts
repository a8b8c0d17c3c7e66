// From the words of a command line to the value of each option: in order, and the first mistake ends it,
// in the words of the real server.
import { nearestName } from '../base/suggest.js';
import type { OptionInfo, OptionValue } from './option-info.js';
import { OPTION_LIST } from './options.js';
import { readWords } from './words.js';

export type Arguments =
  | { readonly kind: 'values'; readonly values: ReadonlyMap<string, OptionValue> }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  /** A word that cannot be understood. */
  | { readonly kind: 'parse-error'; readonly argument: string; readonly why: string };

/** The real server's other name for "--". */
const IGNORE_REST = '--ignore_rest';

type ParseError = Extract<Arguments, { kind: 'parse-error' }>;

export function readArguments(
  words: readonly string[],
  options: readonly OptionInfo[] = OPTION_LIST,
): Arguments {
  const { given, flagWithValue, stray } = readWords(words, options);
  const values = new Map<string, OptionValue>();
  for (const [name, texts] of given) {
    const option = options.find((known) => known.name === name);
    if (!option) continue;
    if (name === flagWithValue) return mistake(option, 'It takes no value');
    if (name === 'help' || name === 'version') return { kind: name };
    const value = readValue(option, texts);
    if (typeof value === 'object' && 'why' in value) return mistake(option, value.why);
    values.set(name, value);
  }
  const word = stray === undefined ? IGNORE_REST : (words[stray] ?? '');
  if (word === IGNORE_REST) return { kind: 'values', values };
  const why = `Couldn't find match for argument${hint(word, options)}`;
  return { kind: 'parse-error', argument: word, why };
}

/** `texts`: one for each time that it is given. */
function readValue(
  option: OptionInfo,
  texts: readonly (string | undefined)[],
): OptionValue | { readonly why: string } {
  if (texts.length > 1 && option.kind !== 'list') return { why: 'Argument already set!' };
  if (option.kind === 'flag') return true;
  const known = texts.filter((text) => text !== undefined);
  const [text = ''] = known;
  if (known.length < texts.length) return { why: 'Missing a value for this argument!' };
  if (option.kind === 'list') return known;
  const value = option.kind === 'number' ? readNumber(text, option) : text;
  return value === null ? { why: `Couldn't read argument value from string '${text}'` } : value;
}

function mistake(option: OptionInfo, why: string): ParseError {
  const short = option.alias === undefined ? '' : `-${option.alias} `;
  return { kind: 'parse-error', argument: `${short}(--${option.name})`, why };
}

function hint(word: string, options: readonly OptionInfo[]): string {
  if (!word.startsWith('--')) return '';
  const names = options.map((option) => option.name);
  const near = nearestName(word.slice(2).replace(/=.*/s, ''), names);
  return near === undefined ? '' : `; did you mean --${near}?`;
}

const LARGEST = 2 ** 32 - 1;

/**
 * 32 bits without sign; a negative number wraps around, as it does in the real server, and nothing
 * is the default. Null: no such number.
 */
function readNumber(text: string, option: OptionInfo): OptionValue | null {
  if (text === '') return option.default ?? (option.isDecidedLater ? undefined : 0);
  if (!/^\s*[+-]?\d+$/.test(text)) return null;
  const value = Number(text);
  if (Math.abs(value) > LARGEST) return null;
  return value < 0 ? value + LARGEST + 1 : value;
}
