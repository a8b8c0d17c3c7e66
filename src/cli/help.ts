// The texts of --help and of a command line that cannot be understood.
import { OPTIONS, type OptionInfo } from './options.js';

const GROUPS = ['Configuration', 'Process', 'Logging', 'Draining', 'Node', 'Information'] as const;

function spelled(option: OptionInfo): string {
  const short = option.alias === undefined ? '' : `-${option.alias}, `;
  return `${short}--${option.name}${option.type === 'boolean' ? '' : ` <${option.value ?? option.type}>`}`;
}

export function helpText(program: string): string {
  const sections = GROUPS.map((group) => {
    const lines = OPTIONS.filter((option) => option.group === group).map(
      (option) => `   ${spelled(option)}\n     ${option.help}`,
    );
    return `${group}:\n\n${lines.join('\n\n')}\n`;
  });
  return `\nUSAGE: \n\n   ${program}  -c <file> [options]\n\n\nWhere: \n\n${sections.join('\n')}\n   ${program}\n`;
}

export function parseErrorText(program: string, argument: string, why: string): string {
  const brief = OPTIONS.map((option) => `[${spelled(option)}]`).join(' ');
  return (
    `PARSE ERROR: Argument: ${argument}\n             ${why}\n\n` +
    `Brief USAGE: \n   ${program}  ${brief}\n\nFor complete USAGE and HELP type: \n   ${program} --help\n\n`
  );
}
