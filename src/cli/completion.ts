// `completion bash|zsh`: scripts that make a shell complete options and their values. Everything that
// they know comes from the table of options.
import type { OptionInfo } from '../options/option-info.js';
import { OPTION_LIST } from '../options/options.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript } as const;

/** The names of the shells that there is a script for. */
export const SHELLS = Object.keys(SCRIPTS) as readonly (keyof typeof SCRIPTS)[];

/** Undefined: there is no script for this shell. */
export function completionScript(shell: string, program: string): string | undefined {
  const known = SHELLS.find((name) => name === shell);
  return known && SCRIPTS[known](program);
}

const wordsOf = ({ name, alias }: OptionInfo): readonly string[] =>
  alias === undefined ? [`--${name}`] : [`-${alias}`, `--${name}`];

function bashScript(program: string): string {
  const valued = OPTION_LIST.filter(({ kind }) => kind !== 'flag');
  const [files, others] = [valued.filter(takesFile), valued.filter((one) => !takesFile(one))];
  const chosen = others.filter(({ choices }) => choices);
  const free = others.filter(({ choices }) => !choices);
  const pattern = (options: readonly OptionInfo[]): string => options.flatMap(wordsOf).join('|');
  return `# bash completion for ${program}: source <(${program} completion bash)
_${program}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  # bash takes "--mode=serve" for three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  case $previous in
    ${pattern(files)})
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return ;;
${chosen.map((option) => `    ${pattern([option])}) ${bashWords(option.choices ?? [])}; return ;;`).join('\n')}
    ${pattern(free)}) return ;;
    completion) ${bashWords(SHELLS)}; return ;;
  esac
  if [[ $COMP_CWORD -eq 1 && $current != -* ]]; then
    ${bashWords(['completion'])}
  else
    ${bashWords(OPTION_LIST.flatMap(wordsOf))}
  fi
}
complete -F _${program} ${program}
`;
}

const bashWords = (words: readonly string[]): string =>
  `mapfile -t COMPREPLY < <(compgen -W '${words.join(' ')}' -- "$current")`;

function zshScript(program: string): string {
  return `#compdef ${program}
# zsh completion for ${program}: source <(${program} completion zsh)
_${program}() {
  if (( CURRENT == 3 )) && [[ $words[2] == completion ]]; then
    _values shell ${SHELLS.join(' ')}
    return
  fi
  _arguments \\
    ${OPTION_LIST.flatMap(zshSpecs).join(' \\\n    ')} \\
    '1::command:(completion)'
}
if [[ $funcstack[1] == _${program} ]]; then
  _${program} "$@"
else
  compdef _${program} ${program}
fi
`;
}

/** One for each way to write the option, which exclude each other. */
function zshSpecs(option: OptionInfo): string[] {
  const words = wordsOf(option);
  const [sentence = ''] = option.help.split(/(?<=\.) /);
  const about = `[${sentence.replace(/[\\[\]:]/g, '\\$&')}]`;
  return words.map((word) => {
    const again = option.kind === 'list' ? '*' : words.length > 1 ? `(${words.join(' ')})` : '';
    const equals = option.kind !== 'flag' && word.startsWith('--') ? '=' : '';
    return zshQuoted(`${again}${word}${equals}${about}${zshValue(option)}`);
  });
}

function zshValue(option: OptionInfo): string {
  if (option.kind === 'flag') return '';
  const action = takesFile(option)
    ? '_files'
    : option.choices
      ? `(${option.choices.join(' ')})`
      : ' ';
  return `:${(option.value ?? 'value').replaceAll(':', '\\:')}:${action}`;
}

const zshQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const takesFile = ({ value }: OptionInfo): boolean => value === 'file';
