// The texts of --help and of a command line that cannot be understood.
import { manual, valueName, type Section } from './manual.js';
import type { OptionInfo } from '../options/option-info.js';
import { OPTION_LIST } from '../options/options.js';
import { wrap } from './wrap.js';

const TERM_INDENT = ' '.repeat(2);
const TEXT_INDENT = ' '.repeat(6);

export function helpText(program: string, width: number): string {
  return sectionsText(manual(program), width);
}

export function sectionsText(sections: readonly Section[], width: number): string {
  return `${sections.map((section) => sectionText(section, width)).join('\n\n')}\n`;
}

function sectionText({ title, intro, entries }: Section, width: number): string {
  const head = [title.toUpperCase(), ...(intro === undefined ? [] : paragraph(intro, 2, width))];
  const body = entries.map(({ term, text }) =>
    [TERM_INDENT + term, ...paragraph(text, TEXT_INDENT.length, width)].join('\n'),
  );
  const separator = intro === undefined || body.length === 0 ? '\n' : '\n\n';
  return head.join('\n') + (body.length === 0 ? '' : separator + body.join('\n'));
}

function paragraph(text: string, indent: number, width: number): string[] {
  return wrap(text.split(' '), width, ' '.repeat(indent));
}

const USAGE_INDENT = ' '.repeat(8);

export function parseErrorText(
  program: string,
  mistake: { readonly argument: string; readonly why: string },
  width: number,
  options: readonly OptionInfo[] = OPTION_LIST,
): string {
  const [first = '', ...rest] = wrap(
    [program, ...options.map(spelled)],
    width - USAGE_INDENT.length,
  );
  const usage = [
    `PARSE ERROR: Argument: ${mistake.argument}`,
    `             ${mistake.why}`,
    '',
    'Brief USAGE: ',
    `   ${first}`,
    ...rest.map((line) => USAGE_INDENT + line),
    '',
    'For complete USAGE and HELP type: ',
    `   ${program} --help`,
    '',
  ];
  return `${usage.join('\n')}\n`;
}

function spelled(option: OptionInfo): string {
  const name = option.alias === undefined ? `--${option.name}` : `-${option.alias}`;
  return option.kind === 'flag' ? `[${name}]` : `[${name} <${valueName(option)}>]`;
}
