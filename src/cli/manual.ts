// The manual: what --help prints, as sections of entries. The options come from their table.
import { GROUPS, type OptionInfo } from '../options/option-info.js';
import { OPTION_LIST } from '../options/options.js';

export interface Entry {
  /** What is explained, as it is typed: "-c, --config-path <file>". */
  readonly term: string;
  readonly text: string;
}

export interface Section {
  readonly title: string;
  readonly intro?: string;
  readonly entries: readonly Entry[];
}

export function manual(program: string): readonly Section[] {
  const options = GROUPS.map((group): Section => {
    const members = OPTION_LIST.filter((option) => option.group === group);
    return { title: `${group} options`, entries: members.map(entryOf) };
  });
  return [
    {
      title: 'Usage',
      intro: `${program} is a network proxy. It takes the bootstrap file, the command line and the admin interface of Envoy.`,
      entries: [
        { term: `${program} -c <file> [options]`, text: 'Serves what the bootstrap says.' },
        {
          term: `${program} --mode validate -c <file>`,
          text: 'Says what is wrong with a bootstrap, and ends.',
        },
        {
          term: `${program} completion bash|zsh`,
          text: 'Prints what makes the shell complete options and their values.',
        },
      ],
    },
    ...options,
    {
      title: 'Arguments',
      intro:
        'An option takes its value from the next word or after "=": --mode validate, --mode=validate. Each may be given once, unless it says otherwise. What follows -- is passed over.',
      entries: [],
    },
    {
      title: 'Signals',
      entries: [
        { term: 'SIGTERM, SIGINT', text: 'Ends: connections are closed, logs are written.' },
        { term: 'SIGUSR1', text: 'Opens the log and all access logs anew, as after a rotation.' },
        { term: 'SIGHUP', text: 'Is passed over, with a warning.' },
      ],
    },
    {
      title: 'Exit status',
      entries: [
        { term: '0', text: 'Ended as it was told, or the bootstrap is valid.' },
        {
          term: '1',
          text: 'The command line or the bootstrap is wrong, or an address is taken; standard error says which.',
        },
      ],
    },
    {
      title: 'Examples',
      entries: [
        {
          term: `${program} -c proxy.yaml -l warning --log-path /var/log/proxy.log`,
          text: 'Logs what is doubtful, to a file.',
        },
        {
          term: `${program} -c proxy.yaml --config-yaml 'admin: {address: {socket_address: {port_value: 0}}}'`,
          text: 'Changes one field of the file.',
        },
        {
          term: `source <(${program} completion bash)`,
          text: 'Completes options in this shell.',
        },
      ],
    },
  ];
}

export function entryOf(option: OptionInfo): Entry {
  const short = option.alias === undefined ? '' : `-${option.alias}, `;
  const term = `${short}--${option.name}`;
  const text =
    option.default === undefined ? option.help : `${option.help} The default is ${option.default}.`;
  return { term: option.kind === 'flag' ? term : `${term} <${valueName(option)}>`, text };
}

/** What the value of an option is called. */
export function valueName({ value, choices = [] }: OptionInfo): string {
  return value ?? choices.join('|');
}
