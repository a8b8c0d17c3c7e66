// What --help prints, which yargs lays out, and what is printed of a command line that cannot be
// understood, as the real server prints it.
import yargs from 'yargs';
import { GROUPS, type OptionInfo } from '../options/option-info.js';

/** What --help says besides the options; columns are parted by tabs. */
export interface Manual {
  readonly program: string;
  readonly usage: string;
  readonly examples: readonly (readonly [command: string, about: string])[];
  readonly notes: string;
}

export function helpText(
  { program, usage, examples, notes }: Manual,
  options: readonly OptionInfo[],
  width: number,
): string {
  const parser = yargs([], '/')
    .scriptName(program)
    .help(false)
    .version(false)
    .detectLocale(false)
    .parserConfiguration({ 'boolean-negation': false })
    .usage(usage)
    .example(examples.map(([command, about]) => [command, about]))
    .epilogue(notes)
    .wrap(width);
  for (const group of GROUPS) {
    for (const option of options.filter((known) => known.group === group)) {
      parser.option(option.name, shownAs(option));
    }
  }
  let text = '';
  parser.showHelp((help) => (text = help));
  return `${text}\n`;
}

const TYPES = { text: 'string', number: 'number', flag: 'boolean', list: 'array' } as const;

function shownAs({ alias, group, help, kind, choices, default: usual }: OptionInfo) {
  return {
    group: `${group}:`,
    describe: help,
    type: TYPES[kind],
    ...(alias !== undefined && { alias }),
    ...(choices && { choices }),
    ...(usual !== undefined && { defaultDescription: String(usual) }),
  };
}

export function parseErrorText(
  program: string,
  mistake: { readonly argument: string; readonly why: string },
): string {
  return `PARSE ERROR: Argument: ${mistake.argument}
             ${mistake.why}

Brief USAGE: 
   ${program} -c <file> [options]

For complete USAGE and HELP type: 
   ${program} --help

`;
}

const NARROWEST = 40;
const WIDEST = 100;
const USUAL = 80;

/** The width of a stream's lines: a terminal's own, within reason. */
export function widthOf({ columns = USUAL }: { readonly columns?: number | undefined }): number {
  return Math.min(WIDEST, Math.max(NARROWEST, columns));
}
