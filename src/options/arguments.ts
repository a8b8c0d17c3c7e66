// From the words of a command line to the value of each option: in order, and the first mistake ends
// it. A value is always the next word, whatever that looks like, or what follows "=". A word that is
// empty or one dash says nothing: an environment variable that is unset leaves one behind.
import { nearestName } from '../base/suggest.js';
import type { OptionInfo, OptionValue } from './option-info.js';
import { OPTION_LIST } from './options.js';

export type Arguments =
  | { readonly kind: 'values'; readonly values: ReadonlyMap<string, OptionValue> }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  /** A word that cannot be understood. */
  | { readonly kind: 'parse-error'; readonly argument: string; readonly why: string };

/** Nothing counts after these. */
const END_WORDS = new Set(['--', '--ignore_rest']);

type ParseError = Extract<Arguments, { kind: 'parse-error' }>;

export function readArguments(
  words: readonly string[],
  options: readonly OptionInfo[] = OPTION_LIST,
): Arguments {
  const splitWord = wordSplitter(options);
  const values = new Map<string, OptionValue>();
  const rest = words[Symbol.iterator]();
  for (const word of rest) {
    if (END_WORDS.has(word)) break;
    if (word === '' || word === '-') continue;
    const { option, text } = splitWord(word);
    if (!option)
      return {
        kind: 'parse-error',
        argument: word,
        why: `Couldn't find match for argument${hint(word, options)}`,
      };
    if (option.kind === 'flag' && text !== undefined) return mistake(option, 'It takes no value');
    if (option.name === 'help' || option.name === 'version') return { kind: option.name };
    const given = values.get(option.name);
    if (given !== undefined && option.kind !== 'list')
      return mistake(option, 'Argument already set!');
    if (option.kind === 'flag') {
      values.set(option.name, true);
      continue;
    }
    const value = text ?? (rest.next().value as string | undefined);
    if (value === undefined) return mistake(option, 'Missing a value for this argument!');
    const single = option.kind === 'number' ? readNumber(value, option) : value;
    if (single === null)
      return mistake(option, `Couldn't read argument value from string '${value}'`);
    const before = (given as string[] | undefined) ?? [];
    values.set(option.name, option.kind === 'list' ? [...before, value] : single);
  }
  return { kind: 'values', values };
}

/** A word is an option, or the name of one and the text of its value. */
export function wordSplitter(
  options: readonly OptionInfo[],
): (word: string) => { readonly option: OptionInfo | undefined; readonly text?: string } {
  const byName = new Map(options.map((option) => [`--${option.name}`, option]));
  const byAlias = new Map(options.map((option) => [`-${option.alias ?? ''}`, option]));
  return (word) => {
    const option = byName.get(word) ?? (word === '-' ? undefined : byAlias.get(word));
    const equals = word.indexOf('=');
    if (option || equals < 0) return { option };
    return { option: byName.get(word.slice(0, equals)), text: word.slice(equals + 1) };
  };
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
