// `completion bash|zsh|fish`: a script by which a shell asks this command how words go on, and its
// answers. Both are yargs', which goes by the table of options.
import yargs, { type Argv } from 'yargs';
import type { OptionInfo } from '../options/option-info.js';
import { OPTION_LIST } from '../options/options.js';

export const SHELLS: readonly string[] = ['bash', 'zsh', 'fish'];
const COMPLETION = 'completion';

/** Prints the script for one of the shells. */
export function printCompletionScript(program: string, shell: string): void {
  // This is where yargs looks for the shell's name.
  process.env.SHELL = shell;
  parserOf(program, []).showCompletionScript();
}

/** `words`: what a script asks with, in all. Prints an answer on each line. */
export function printCompletions(program: string, words: readonly string[]): void {
  // bash takes "--mode=serve" for three words.
  const asked = words.filter((word, at) => word !== '=' || at === words.length - 1);
  const ours = asked.map((word, at) => (at === asked.length - 1 && word === '=' ? '' : word));
  parserOf(program, ours).parseSync(ours);
}

function parserOf(program: string, words: readonly string[]): Argv {
  const complete = (
    _current: string,
    _argv: unknown,
    usual: (then: (error: Error | null, words?: readonly string[]) => void) => void,
    done: (words: string[]) => void,
  ): void => {
    const last = words.at(-2) ?? '';
    if (last === COMPLETION) done([...SHELLS]);
    else if (takesText(last)) done([]);
    // yargs offers the letters of options with two dashes as well.
    else usual((_error, offered = []) => done(offered.filter((word) => !/^--\w(:|$)/.test(word))));
  };
  const parser = yargs([], '/')
    .scriptName(program)
    .help(false)
    .version(false)
    .exitProcess(false)
    .detectLocale(false)
    .parserConfiguration({ 'boolean-negation': false, 'camel-case-expansion': false })
    .completion(COMPLETION, 'Prints a script for a shell.', complete);
  for (const { name, alias, kind, choices, help } of OPTION_LIST) {
    parser.option(name, {
      type: kind === 'flag' ? 'boolean' : 'string',
      describe: help.split(/(?<=\.) /, 1)[0] ?? '',
      ...(alias !== undefined && { alias }),
      ...(choices && { choices }),
    });
  }
  return parser;
}

/** What nobody knows but whoever types: the shell offers names of files. */
function takesText(word: string): boolean {
  const isIt = ({ name, alias }: OptionInfo): boolean =>
    word === `--${name}` || (alias !== undefined && word === `-${alias}`);
  const option = OPTION_LIST.find(isIt);
  return option !== undefined && option.kind !== 'flag' && !option.choices;
}
