// A command line becomes options. Errors are values: the caller prints them and chooses the exit code.
import { COMPONENTS, findComponent, type Component } from '../logging/components.js';
import { LEVELS, parseLevel, type Level } from '../logging/levels.js';
import { readArguments, type Arguments } from './arguments.js';
import { findConflict } from './conflicts.js';
import { refusal, type OptionInfo, type OptionValue } from './option-info.js';
import { OPTION_LIST, splitList, type OptionValues } from './options.js';
import { parseSocketMode } from './socket-mode.js';

export interface Options extends OptionValues {
  /** What --log-level says. */
  readonly level: Level;
  /** What --component-log-level says. */
  readonly componentLevels: ReadonlyMap<Component, Level>;
  /** What --stats-tag says. */
  readonly fixedTags: readonly (readonly [name: string, value: string])[];
  /** What --disable-extensions says: category/name. */
  readonly disabledExtensions: readonly string[];
  /** The permission bits of the sockets of a hot restart; 0 where they have no file. */
  readonly socketPermission: number;
}

export type ParseResult =
  | { readonly kind: 'options'; readonly options: Options }
  | Exclude<Arguments, { kind: 'values' }>
  | { readonly kind: 'hot-restart-version'; readonly options: Options }
  /** A value that means nothing, or an option that does not go with another. */
  | { readonly kind: 'error'; readonly message: string };

export function parseArguments(words: readonly string[]): ParseResult {
  const read = readArguments(words);
  if (read.kind !== 'values') return read;
  const problem = firstProblem(read.values);
  if (problem !== undefined) return error(problem);
  const values = withDefaults(read.values);
  const componentLevels = parseComponentLevels(values.componentLogLevel);
  if (typeof componentLevels === 'string') return error(componentLevels);
  const socketPermission = parseSocketMode(values);
  if (typeof socketPermission === 'string') return error(socketPermission);
  const conflict = findConflict(values);
  if (conflict !== undefined) return error(conflict);
  const options: Options = {
    ...values,
    allowUnknownStaticFields: values.allowUnknownStaticFields || values.allowUnknownFields,
    level: parseLevel(values.logLevel) ?? 'info',
    componentLevels,
    fixedTags: values.statsTag.map((tag) => splitAt(tag, tag.indexOf(':'))),
    disabledExtensions: splitList(values.disableExtensions),
    socketPermission,
  };
  return { kind: values.hotRestartVersion ? 'hot-restart-version' : 'options', options };
}

const error = (message: string): ParseResult => ({ kind: 'error', message });

function firstProblem(values: ReadonlyMap<string, OptionValue>): string | undefined {
  for (const option of OPTION_LIST) {
    const value = values.get(option.name);
    if (value === undefined) continue;
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

function emptyValue({ kind, isDecidedLater }: OptionInfo): OptionValue {
  if (isDecidedLater) return undefined;
  return { text: '', number: 0, flag: false, list: [] }[kind];
}

function parseComponentLevels(list: string): ReadonlyMap<Component, Level> | string {
  const levels = new Map<Component, Level>();
  for (const entry of splitList(list)) {
    const [name, levelName, ...rest] = entry.split(':');
    if (name === undefined || levelName === undefined || rest.length > 0) {
      return `component log level not correctly specified '${entry}'; expected component:level`;
    }
    const level = parseLevel(levelName);
    if (!level) return refusal(`invalid log level specified '${levelName}'`, levelName, LEVELS);
    const component = findComponent(name);
    if (!component) return refusal(`invalid component specified '${name}'`, name, COMPONENTS);
    levels.set(component, level);
  }
  return levels;
}

function splitAt(text: string, index: number): [string, string] {
  return [text.slice(0, index), text.slice(index + 1)];
}
