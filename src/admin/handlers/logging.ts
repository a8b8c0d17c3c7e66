// POST /logging: lists the levels of loggers, and changes them.
import { COMPONENTS, findComponent, type Component } from '../../logging/components.js';
import { LEVELS, findLevel, type Level } from '../../logging/levels.js';
import type { Log } from '../../logging/logger.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { badRequest } from '../http.js';
import type { Parameters } from '../parameters.js';

const USAGE = `usage: /logging?<name>=<level> (change single level)
usage: /logging?paths=name1:level1,name2:level2,... (change multiple levels)
usage: /logging?level=<level> (change all levels)
usage: /logging?group=<group_name>:<level> (change group of loggers)
levels: ${LEVELS.join(' ')}${' '}
`;

/** A change of one logger, or of all. */
interface Change {
  readonly level: Level;
  readonly component?: Component;
}

export function loggingEndpoints({ log }: AdminHost): Endpoint[] {
  return [
    {
      path: '/logging',
      help: 'list the loggers and change their levels',
      mutates: true,
      parameters: [
        { name: 'paths', help: 'Levels of several loggers: <name>:<level>,<name>:<level>' },
        { name: 'group', help: 'Only with fine-grain logging' },
        { name: 'level', help: 'The level of all loggers', oneOf: LEVELS },
      ],
      handle: ({ parameters }) => {
        const changes = readChanges(parameters);
        if (typeof changes === 'string')
          return badRequest(`error: ${changes}\n\n${USAGE}${list(log)}`);
        for (const { level, component } of changes) log.setLevel(level, component);
        return { body: list(log) };
      },
    },
  ];
}

function list(log: Log): string {
  const lines = COMPONENTS.map((name) => `  ${name}: ${log.level(name)}\n`);
  return `active loggers:\n${lines.join('')}\n`;
}

/** All of what is asked for, or why none of it is done. The home page sends empty fields: they ask nothing. */
function readChanges(parameters: Parameters): readonly Change[] | string {
  const given = [...parameters].filter(([, value]) => value !== '');
  const [first] = given;
  if (!first) return [];
  if (given.length > 1) return 'invalid number of parameters';
  const [name, value] = first;
  if (name === 'group') return 'group parameter requires fine-grain logging to be enabled';
  if (name === 'paths') return readPaths(value);
  const level = findLevel(value);
  if (!level) return 'unknown logger level';
  if (name === 'level') return [{ level }];
  const component = findComponent(name);
  return component ? [{ level, component }] : 'unknown logger name';
}

function readPaths(list: string): readonly Change[] | string {
  const changes: Change[] = [];
  for (const entry of list.split(',').filter((part) => part !== '')) {
    const [name = '', levelName = ''] = entry.split(/[:=]/);
    if (name === '' || levelName === '') return 'empty logger name or empty logger level';
    const level = findLevel(levelName);
    if (!level) return 'unknown logger level';
    const component = findComponent(name);
    if (!component) return 'unknown logger name';
    changes.push({ level, component });
  }
  return changes;
}
