// A command line of fairlead-hot-restarter becomes what is to be run, and how.
import { readArguments, type Arguments } from '../options/arguments.js';
import type { OptionInfo, OptionValue } from '../options/option-info.js';
import { OPTION_LIST } from '../options/options.js';
import { readWords } from '../options/words.js';
import { fairleadCommand, plainCommand, scriptCommand, type Command } from './command.js';
import { RESTARTER_OPTIONS } from './options.js';
import type { Readiness } from './readiness.js';
import type { SupervisorOptions } from './supervisor.js';

export type RestarterArguments =
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly readiness: Readiness;
      readonly options: SupervisorOptions;
    }
  | Exclude<Arguments, { kind: 'values' }>
  | { readonly kind: 'error'; readonly message: string };

type Values = ReadonlyMap<string, OptionValue>;

interface Words {
  readonly options: readonly string[];
  readonly command: readonly string[];
  /** The command stands after "--". */
  readonly isSeparated: boolean;
}

const OWN_NAMES = new Set(RESTARTER_OPTIONS.map((option) => option.name));
const ALL_OPTIONS: readonly OptionInfo[] = [
  ...RESTARTER_OPTIONS,
  ...OPTION_LIST.filter((option) => !OWN_NAMES.has(option.name)),
];

export function parseRestarterArguments(words: readonly string[]): RestarterArguments {
  const split = splitWords(words);
  const read = readArguments(split.options, ALL_OPTIONS);
  if (read.kind !== 'values') return read;
  const { values } = read;
  const proxyOptions = wordsForProxy(values);
  const problem = firstProblem(values, split, proxyOptions);
  if (problem !== undefined) return { kind: 'error', message: problem };
  return {
    kind: 'run',
    command: commandOf(split, proxyOptions, values),
    readiness: {
      afterMs: milliseconds(values, 'ready-after-s'),
      adminAddress: values.get('ready-address') as string | undefined,
      adminAddressPath: values.get('ready-address-path') as string | undefined,
    },
    options: {
      readyTimeoutMs: milliseconds(values, 'ready-timeout-s') ?? 0,
      termWaitMs: milliseconds(values, 'term-wait-s') ?? 0,
      maxRestarts: numberOf(values, 'max-restarts') ?? 0,
      restartWindowMs: milliseconds(values, 'restart-window-s') ?? 0,
    },
  };
}

/** Options may stand in any order before the command: its own words are never looked at. */
function splitWords(words: readonly string[]): Words {
  const { stray, end } = readWords(words, ALL_OPTIONS);
  if (stray !== undefined && !words[stray]?.startsWith('-')) {
    return { options: words.slice(0, stray), command: words.slice(stray), isSeparated: false };
  }
  if (end === undefined) return { options: words, command: [], isSeparated: false };
  // After it fairlead's options may stand too.
  if (words[end + 1]?.startsWith('-')) return splitWords(words.toSpliced(end, 1));
  return { options: words.slice(0, end), command: words.slice(end + 1), isSeparated: true };
}

/** What fairlead is told, of all that was said. */
function wordsForProxy(values: Values): readonly string[] {
  const given = [...values].filter(([name]) => !OWN_NAMES.has(name));
  return given.flatMap(([name, value]) => {
    if (value === true) return [`--${name}`];
    const texts = Array.isArray(value) ? value : value === undefined ? [] : [value];
    return texts.flatMap((text) => [`--${name}`, String(text)]);
  });
}

function firstProblem(
  values: Values,
  { command, isSeparated }: Words,
  proxyOptions: readonly string[],
): string | undefined {
  const ways = 'expected a command after --, or options of fairlead';
  for (const { name, check } of RESTARTER_OPTIONS) {
    const value = values.get(name);
    const problem = value === undefined ? undefined : check?.(String(value));
    if (problem !== undefined) return problem;
  }
  if (command[0] === undefined || command[0] === '') {
    if (isSeparated) return `there is no command after --; ${ways}`;
    if (proxyOptions.length === 0) return `there is nothing to run; ${ways}`;
  } else if (proxyOptions.length > 0) {
    return `${proxyOptions[0]} is an option of fairlead, and '${command[0]}' is to be run; ${ways}, not both`;
  }
  if (values.has('restart-epoch')) {
    return '--restart-epoch is what the restarter itself tells each process; expected none';
  }
  if (values.has('disable-hot-restart')) {
    return 'with --disable-hot-restart no process takes over from another; expected fairlead itself to be run, without the restarter';
  }
  return undefined;
}

function commandOf(
  { command, isSeparated }: Words,
  proxyOptions: readonly string[],
  values: Values,
): Command {
  if (command.length === 0) {
    const baseIdPath = values.get('base-id-path') as string | undefined;
    return fairleadCommand(proxyOptions, {
      hasDynamicBaseId: values.has('use-dynamic-base-id'),
      ...(baseIdPath !== undefined && { baseIdPath }),
    });
  }
  const [file = '', ...args] = command;
  return isSeparated ? plainCommand(file, args) : scriptCommand(file, args);
}

/** What was given or is the default. */
function numberOf(values: Values, name: string): number | undefined {
  const option = RESTARTER_OPTIONS.find((known) => known.name === name);
  return (values.get(name) ?? option?.default) as number | undefined;
}

function milliseconds(values: Values, name: string): number | undefined {
  const seconds = numberOf(values, name);
  return seconds === undefined ? undefined : seconds * 1000;
}
