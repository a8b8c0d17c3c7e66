// A command line becomes options. Errors are values: the caller prints them and chooses the exit code.
import { findComponent, type Component } from '../logging/components.js';
import { parseLevel, type Level } from '../logging/levels.js';
import { readArguments, type Arguments } from './arguments.js';
import { OPTION_LIST, type OptionInfo, type OptionValue, type OptionValues } from './options.js';

export interface Options extends OptionValues {
  /** What --log-level says. */
  readonly level: Level;
  /** What --component-log-level says. */
  readonly componentLevels: ReadonlyMap<Component, Level>;
  /** What --stats-tag says. */
  readonly fixedTags: readonly (readonly [name: string, value: string])[];
}

export type ParseResult =
  | { readonly kind: 'options'; readonly options: Options }
  | Exclude<Arguments, { kind: 'values' }>
  | { readonly kind: 'hot-restart-version' }
  /** A value that means nothing, or an option that is not supported. */
  | { readonly kind: 'error'; readonly message: string };

export function parseArguments(words: readonly string[]): ParseResult {
  const read = readArguments(words);
  if (read.kind !== 'values') return read;
  const problem = firstProblem(read.values);
  if (problem !== undefined) return { kind: 'error', message: problem };
  if (read.values.has('hot-restart-version')) return { kind: 'hot-restart-version' };
  const values = withDefaults(read.values);
  const componentLevels = parseComponentLevels(values.componentLogLevel);
  if (typeof componentLevels === 'string') return { kind: 'error', message: componentLevels };
  return {
    kind: 'options',
    options: {
      ...values,
      level: parseLevel(values.logLevel) ?? 'info',
      componentLevels,
      fixedTags: values.statsTag.map((tag) => splitAt(tag, tag.indexOf(':'))),
    },
  };
}

function firstProblem(values: ReadonlyMap<string, OptionValue>): string | undefined {
  for (const option of OPTION_LIST) {
    const value = values.get(option.name);
    if (value === undefined) continue;
    if (option.help === undefined) return `--${option.name} is not supported yet`;
    for (const single of Array.isArray(value) ? value : [value]) {
      const problem = option.check?.(String(single));
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** The table's types guarantee what is built here. */
function withDefaults(given: ReadonlyMap<string, OptionValue>): OptionValues {
  const entries = OPTION_LIST.map((option) => [
    option.name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    given.get(option.name) ?? option.default ?? emptyValue(option),
  ]);
  return Object.fromEntries(entries) as OptionValues;
}

function emptyValue(option: OptionInfo): OptionValue {
  if (option.name === 'concurrency') return undefined;
  return { text: '', number: 0, flag: false, list: [] }[option.kind];
}

function parseComponentLevels(list: string): ReadonlyMap<Component, Level> | string {
  const levels = new Map<Component, Level>();
  for (const entry of list === '' ? [] : list.split(',')) {
    const [name, levelName, ...rest] = entry.split(':');
    if (name === undefined || levelName === undefined || rest.length > 0) {
      return `component log level not correctly specified '${entry}'`;
    }
    const level = parseLevel(levelName);
    if (!level) return `invalid log level specified '${levelName}'`;
    const component = findComponent(name);
    if (!component) return `invalid component specified '${name}'`;
    levels.set(component, level);
  }
  return levels;
}

function splitAt(text: string, index: number): [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
}
