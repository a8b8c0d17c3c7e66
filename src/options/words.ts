// yargs reads the words of a command line as a table of options tells it to. Here is the real server's
// idea of one: the value of an option is the next word, whatever that looks like, or what follows "=";
// nothing is guessed, negated, nested or abbreviated.
import yargs from 'yargs';
import type { OptionInfo } from './option-info.js';

export interface ReadWords {
  /**
   * Options by their names, in the order in which they are first mentioned, each with its texts: '' for
   * a mention of a flag; undefined where no word was left for a value.
   */
  readonly given: ReadonlyMap<string, readonly (string | undefined)[]>;
  /** The name of a flag that was given a value. */
  readonly flagWithValue?: string;
  /** The place of the first word that is neither an option nor a value: `given` is before it. */
  readonly stray?: number;
  /** The place of the "--" after which there are no options. */
  readonly end?: number;
}

type Parse = (words: readonly string[]) => Parsed;

interface Parsed extends Omit<ReadWords, 'end' | 'stray'> {
  readonly hasStray: boolean;
  /** What follows "--". */
  readonly rest: readonly string[];
}

const CONFIGURATION = {
  'boolean-negation': false,
  'camel-case-expansion': false,
  'dot-notation': false,
  'nargs-eats-options': true,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'populate--': true,
  'strip-aliased': true,
  'unknown-options-as-args': true,
};

/** What yargs says of a flag with a value, and the flag's name or alias. */
const UNEXPECTED = /^Argument unexpected for: (.+)$/;

export function readWords(words: readonly string[], options: readonly OptionInfo[]): ReadWords {
  const parse = parserOf(options);
  const whole = parse(words);
  if (!whole.hasStray) return { ...whole, ...endOf(words, whole, parse) };
  // As many words as there may be without a stray one.
  let [good, bad] = [0, words.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (parse(words.slice(0, middle)).hasStray) bad = middle;
    else good = middle;
  }
  return { ...parse(words.slice(0, good)), stray: good };
}

function parserOf(options: readonly OptionInfo[]): Parse {
  const names = new Map(
    options.flatMap(({ name, alias = name }) => [[name, name] as const, [alias, name] as const]),
  );
  let fault = '';
  // Where it is run is nothing to it, and need not exist any more.
  const parser = yargs([], '/')
    .help(false)
    .version(false)
    .exitProcess(false)
    .detectLocale(false)
    .parserConfiguration(CONFIGURATION)
    .options(Object.fromEntries(options.map((option) => [option.name, readAs(option)])))
    .fail((message) => (fault = message));
  return (words) => {
    fault = '';
    const { _: others, $0: _program, '--': rest = [], ...values } = parser.parseSync([...words]);
    const entries = Object.entries(values);
    const flag = names.get(UNEXPECTED.exec(fault)?.[1] ?? '');
    return {
      given: new Map(entries.map(([name, value]) => [name, [value].flat() as string[]])),
      ...(flag !== undefined && { flagWithValue: flag }),
      hasStray: others.some(saysSomething) || entries.some(([name]) => !names.has(name)),
      rest: rest as string[],
    };
  };
}

/** All are texts: a flag that is mentioned twice has two empty ones. */
function readAs({ kind, alias }: OptionInfo) {
  return { type: 'string', nargs: kind === 'flag' ? 0 : 1, ...(alias && { alias }) } as const;
}

/** An environment variable that is unset leaves such a word behind. */
const saysSomething = (word: string | number): boolean => word !== '' && word !== '-';

function endOf(words: readonly string[], { rest }: Parsed, parse: Parse): Pick<ReadWords, 'end'> {
  if (rest.length > 0) return { end: words.length - rest.length - 1 };
  if (words.at(-1) !== '--') return {};
  // The last word may as well be the value of the one before.
  const before = parse(words.slice(0, -1));
  const isValue = [...before.given.values()].some((texts) => texts.includes(undefined));
  return isValue ? {} : { end: words.length - 1 };
}
