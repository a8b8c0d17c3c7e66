// POST /logging: lists the levels of loggers, and changes them.
import { COMPONENTS, findComponent, type Component } from '../../logging/components.js';
import { LEVELS, findLevel, type Level } from '../../logging/levels.js';
import type { Log } from '../../logging/logger.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { badRequest } from '../http/http.js';
import type { Parameters } from '../http/parameters.js';

const USAGE = `usage: /logging?<name>=<level> (change single level)
usage: /logging?paths=name1:level1,name2:level2,... (change multiple levels)
usage: /logging?level=<level> (change all levels)
usage: /logging?group=<group_name>:<level> (change group of loggers)
levels: ${LEVELS.join(' ')}${' '}
`;

/** A change of all loggers, or of those that have a name: a component, or a glob of source files. */
type Change =
  | { readonly kind: 'all'; readonly level: Level }
  | { readonly kind: 'some'; readonly levels: ReadonlyMap<string, Level> };

export function loggingEndpoints({ log }: AdminHost): Endpoint[] {
  return [
    {
      path: '/logging',
      help: 'list the loggers and change their levels',
      mutates: true,
      parameters: [
        { name: 'paths', help: 'Levels of several loggers: <name>:<level>,<name>:<level>' },
        {
          name: 'group',
          help: 'Only with fine-grain logging: the level of a component, <name>:<level>',
        },
        { name: 'level', help: 'The level of all loggers', oneOf: LEVELS },
      ],
      handle: ({ parameters }) => {
        const change = readChange(parameters, log.isFineGrain);
        const problem = typeof change === 'string' ? change : change && apply(change, log);
        if (problem !== undefined) return badRequest(`error: ${problem}\n\n${USAGE}${list(log)}`);
        return { body: list(log) };
      },
    },
  ];
}

function list(log: Log): string {
  if (log.isFineGrain) {
    const lines = log.fileLevels().map(([path, level]) => `  ${path}: ${level}`);
    return `active loggers:\n${lines.join('\n')}\n`;
  }
  const lines = COMPONENTS.map((name) => `  ${name}: ${log.level(name)}\n`);
  return `active loggers:\n${lines.join('')}\n`;
}

/** Why the change cannot be made; then nothing of it is. */
function apply(change: Change, log: Log): string | undefined {
  if (change.kind === 'all') {
    log.info('misc', `change all log levels: level='${change.level}'`);
    log.setLevel(change.level);
    return undefined;
  }
  const levels = [...change.levels];
  const components = levels.flatMap(([name, level]): [Component, Level][] => {
    const component = findComponent(name);
    return component ? [[component, level]] : [];
  });
  // A glob may select files that are not reached yet.
  if (!log.isFineGrain && components.length < levels.length) return 'unknown logger name';
  for (const [name, level] of levels) {
    log.info('admin', `change log level: name='${name}' level='${level}'`);
    const component = findComponent(name);
    if (!log.isFineGrain && component) log.setLevel(level, component);
  }
  if (log.isFineGrain && levels.length > 0) log.setFileLevels(levels);
  return undefined;
}

/** All of what is asked for, or why none of it is done. The home page sends empty fields: they ask nothing. */
function readChange(parameters: Parameters, isFineGrain: boolean): Change | string | undefined {
  const given = [...parameters].filter(([, value]) => value !== '');
  const [first] = given;
  if (!first) return undefined;
  if (given.length > 1) return 'invalid number of parameters';
  const [name, value] = first;
  if (name === 'paths') return readPaths(value);
  if (name === 'group') {
    return isFineGrain
      ? readGroup(value)
      : 'group parameter requires fine-grain logging to be enabled';
  }
  const level = findLevel(value);
  if (!level) return 'unknown logger level';
  return name === 'level'
    ? { kind: 'all', level }
    : { kind: 'some', levels: new Map([[name, level]]) };
}

function readPaths(list: string): Change | string {
  const levels = new Map<string, Level>();
  for (const entry of list.split(',').filter((part) => part !== '')) {
    const end = entry.search(/[:=]/);
    if (end <= 0 || end === entry.length - 1) return 'empty logger name or empty logger level';
    const level = findLevel(entry.slice(end + 1));
    if (!level) return 'unknown logger level';
    levels.set(entry.slice(0, end), level);
  }
  return { kind: 'some', levels };
}

function readGroup(entry: string): Change | string {
  const end = entry.indexOf(':');
  if (end <= 0 || end === entry.length - 1)
    return 'empty logger name or empty logger level in group';
  const level = findLevel(entry.slice(end + 1));
  if (!level) return 'unknown logger level';
  return { kind: 'some', levels: new Map([[entry.slice(0, end), level]]) };
}
