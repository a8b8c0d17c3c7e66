// The texts of --help and of a command line that cannot be understood.
import { createRequire } from 'node:module';
import type Yargs from 'yargs';
import { OPTION_LIST, type OptionInfo } from './options.js';

const YARGS_TYPES = { text: 'string', number: 'number', flag: 'boolean', list: 'string' } as const;
const WIDTH = 100;

/** yargs is loaded only here: it takes longer than everything else that a start does. */
export async function helpText(program: string): Promise<string> {
  const yargs = createRequire(import.meta.url)('yargs') as typeof Yargs;
  const help = yargs([])
    .scriptName(program)
    .usage('USAGE: $0 -c <file> [options]')
    .help(false)
    .version(false)
    .wrap(WIDTH);
  for (const option of OPTION_LIST) {
    if (option.help === undefined) continue;
    help.option(option.name, {
      type: YARGS_TYPES[option.kind],
      description: option.help,
      group: `${option.group}:`,
      ...(option.alias === undefined ? {} : { alias: option.alias }),
    });
  }
  return `${await help.getHelp()}\n`;
}

export function parseErrorText(program: string, argument: string, why: string): string {
  const options = OPTION_LIST.filter((option) => option.help !== undefined).map(spelled);
  const usage = [
    `PARSE ERROR: Argument: ${argument}`,
    `             ${why}`,
    '',
    'Brief USAGE: ',
    ...wrapped([`   ${program} `, ...options], WIDTH, '        '),
    '',
    'For complete USAGE and HELP type: ',
    `   ${program} --help`,
    '',
  ];
  return `${usage.join('\n')}\n`;
}

function spelled(option: OptionInfo): string {
  const name = option.alias === undefined ? `--${option.name}` : `-${option.alias}`;
  return option.kind === 'flag' ? `[${name}]` : `[${name} <${option.value ?? 'text'}>]`;
}

function wrapped(words: readonly string[], width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
