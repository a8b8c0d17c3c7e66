// Arguments to options. Errors are values: the caller prints them and chooses the exit code.
import yargs from 'yargs';
import { parseLevel, type Level } from '../logging/levels.js';
import { COMPONENTS, type Component } from '../logging/logger.js';
import { nearestName } from '../config/suggest.js';
import { OPTIONS, type OptionInfo, type OptionValue } from './options.js';

export interface Options {
  readonly configPath: string;
  readonly configYaml: string;
  readonly mode: 'serve' | 'validate' | 'init_only';
  readonly adminAddressPath: string;
  readonly localAddressIpVersion: 'v4' | 'v6';
  /** Absent: as many as processors. */
  readonly concurrency?: number;
  readonly baseId: number;
  readonly useDynamicBaseId: boolean;
  readonly disableHotRestart: boolean;
  readonly logLevel: Level;
  readonly componentLogLevel: string;
  readonly componentLevels: ReadonlyMap<Component, Level>;
  readonly logFormat: string;
  readonly logPath: string;
  readonly fileFlushIntervalMsec: number;
  readonly drainTimeS: number;
  readonly parentShutdownTimeS: number;
  readonly serviceCluster: string;
  readonly serviceNode: string;
  readonly serviceZone: string;
  readonly statsTags: readonly (readonly [string, string])[];
}

export type ParseResult =
  | { readonly kind: 'options'; readonly options: Options }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  /** Not an argument of ours; `argument` is what was typed. */
  | { readonly kind: 'parse-error'; readonly argument: string; readonly why: string }
  /** A value that means nothing. */
  | { readonly kind: 'error'; readonly message: string };

const byName = new Map<string, OptionInfo>(
  OPTIONS.flatMap((option) => [option.name, option.alias].filter((name) => name !== undefined).map((name): [string, OptionInfo] => [name, option])),
);

export function parseArguments(args: readonly string[]): ParseResult {
  const problem = checkShape(args);
  if (problem) return problem;
  const parsed = yargs()
    .help(false)
    .version(false)
    .parserConfiguration({ 'camel-case-expansion': false, 'duplicate-arguments-array': true, 'greedy-arrays': false, 'boolean-negation': false, 'strip-aliased': true })
    .options(
      Object.fromEntries(
        OPTIONS.map((option) => [
          option.name,
          {
            type: option.type === 'list' ? ('array' as const) : option.type,
            ...(option.alias === undefined ? {} : { alias: option.alias }),
          },
        ]),
      ),
    )
    .exitProcess(false)
    .parseSync(fixDashes(args)) as Record<string, unknown>;
  const values = new Map<string, OptionValue>();
  for (const option of OPTIONS) {
    let value = parsed[option.name] as OptionValue;
    // Given twice, the last one counts.
    if (option.type !== 'list' && Array.isArray(value)) value = value.at(-1) as OptionValue;
    values.set(option.name, value ?? option.default);
  }
  if (values.get('help') === true) return { kind: 'help' };
  if (values.get('version') === true) return { kind: 'version' };
  for (const option of OPTIONS) {
    const value = values.get(option.name);
    if (value === undefined) continue;
    const message = option.check?.(value);
    if (message !== undefined) return { kind: 'error', message };
  }
  return finish(values);
}

/** A value that begins with a dash ("-1") is a value where one is due. */
function fixDashes(args: readonly string[]): string[] {
  const result: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const option = byName.get(args[i]!.replace(/^--?/, ''));
    if (option && option.type !== 'boolean' && args[i]!.startsWith('-') && i + 1 < args.length) {
      result.push(`--${option.name}=${args[++i]!}`);
    } else {
      result.push(args[i]!);
    }
  }
  return result;
}

function checkShape(args: readonly string[]): ParseResult | undefined {
  for (let i = 0; i < args.length; i++) {
    const argument = args[i]!;
    const match = /^(?:--([^=]+)|-([a-zA-Z]))(?:=(.*))?$/s.exec(argument);
    const option = match ? byName.get(match[1] ?? match[2] ?? '') : undefined;
    if (!option) {
      const near = match?.[1] === undefined ? undefined : nearestName(match[1], OPTIONS.map((known) => known.name));
      const hint = near === undefined ? '' : ` (did you mean --${near}?)`;
      return { kind: 'parse-error', argument, why: `Couldn't find match for argument${hint}` };
    }
    if (option.type === 'boolean') continue;
    const value = match?.[3] ?? args[++i];
    const shown = `${option.alias === undefined ? '' : `-${option.alias} `}(--${option.name})`;
    if (value === undefined) return { kind: 'parse-error', argument: shown, why: 'Missing a value for this argument!' };
    if (option.type === 'number' && !/^-?\d+$/.test(value)) {
      return { kind: 'parse-error', argument: shown, why: `Couldn't read argument value from string '${value}'` };
    }
  }
  return undefined;
}

function finish(values: ReadonlyMap<string, OptionValue>): ParseResult {
  const text = (name: string): string => String(values.get(name) ?? '');
  const levels = parseComponentLevels(text('component-log-level'));
  if ('message' in levels) return { kind: 'error', message: levels.message };
  const tags: [string, string][] = [];
  for (const tag of (values.get('stats-tag') as readonly string[] | undefined) ?? []) {
    const colon = String(tag).indexOf(':');
    if (colon <= 0 || colon === String(tag).length - 1) return { kind: 'error', message: `misformatted stats-tag '${tag}'` };
    tags.push([tag.slice(0, colon), tag.slice(colon + 1)]);
  }
  const concurrency = values.get('concurrency') as number | undefined;
  return {
    kind: 'options',
    options: {
      configPath: text('config-path'),
      configYaml: text('config-yaml'),
      mode: text('mode') as Options['mode'],
      adminAddressPath: text('admin-address-path'),
      localAddressIpVersion: text('local-address-ip-version') as 'v4' | 'v6',
      ...(concurrency === undefined ? {} : { concurrency: Math.max(1, concurrency) }),
      baseId: Number(values.get('base-id')),
      useDynamicBaseId: values.get('use-dynamic-base-id') === true,
      disableHotRestart: values.get('disable-hot-restart') === true,
      logLevel: parseLevel(text('log-level')) ?? 'info',
      componentLogLevel: text('component-log-level'),
      componentLevels: levels.levels,
      logFormat: text('log-format'),
      logPath: text('log-path'),
      fileFlushIntervalMsec: Number(values.get('file-flush-interval-msec')),
      drainTimeS: Number(values.get('drain-time-s')),
      parentShutdownTimeS: Number(values.get('parent-shutdown-time-s')),
      serviceCluster: text('service-cluster'),
      serviceNode: text('service-node'),
      serviceZone: text('service-zone'),
      statsTags: tags,
    },
  };
}

function parseComponentLevels(list: string): { levels: ReadonlyMap<Component, Level> } | { message: string } {
  const levels = new Map<Component, Level>();
  for (const entry of list.split(',').filter((part) => part !== '')) {
    const [name, levelName, ...rest] = entry.split(':');
    if (name === undefined || levelName === undefined || rest.length > 0) {
      return { message: `component log level not correctly specified '${entry}'` };
    }
    const level = parseLevel(levelName);
    if (!level) return { message: `invalid log level specified '${levelName}'` };
    const component = COMPONENTS.find((known) => known === name);
    if (!component) return { message: `invalid component specified '${name}'` };
    levels.set(component, level);
  }
  return { levels };
}
