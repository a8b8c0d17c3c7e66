// What fairlead-hot-restarter --help prints, as sections of entries.
import { entryOf, type Section } from '../cli/manual.js';
import { RESTARTER_OPTIONS } from './options.js';

export function restarterManual(program: string): readonly Section[] {
  return [
    {
      title: 'Usage',
      intro: `${program} runs a proxy, and replaces it by a new process without losing a connection whenever it gets SIGHUP: for another configuration, or another version.`,
      entries: [
        {
          term: `${program} [options] -c <file> [fairlead's options]`,
          text: 'Runs fairlead. Each process is told its epoch; --use-dynamic-base-id works for all of them.',
        },
        {
          term: `${program} [options] -- <command> [arguments]`,
          text: 'Runs a command, with the epoch in the environment variable RESTART_EPOCH. It is to end in something like: exec fairlead -c proxy.yaml --restart-epoch "$RESTART_EPOCH"',
        },
        {
          term: `${program} [options] <script> [arguments]`,
          text: 'The same; a script of this folder needs no ./ before its name.',
        },
      ],
    },
    { title: 'Options', entries: RESTARTER_OPTIONS.map(entryOf) },
    {
      title: 'When a process is live',
      intro:
        'Fairlead says so itself. Of another command it is learnt from its admin server (--ready-address, --ready-address-path) or taken for granted after a while (--ready-after-s). One that ends before or takes too long leaves the one before it serving, and the next SIGHUP tries the same epoch again.',
      entries: [],
    },
    {
      title: 'Signals',
      entries: [
        { term: 'SIGHUP', text: 'Starts the next epoch; while one is starting, once it has.' },
        {
          term: 'SIGTERM, SIGINT',
          text: 'Ends all processes, and then itself. A second one kills what is left.',
        },
        { term: 'SIGUSR1', text: 'Goes to all processes: logs are opened anew.' },
      ],
    },
    {
      title: 'Exit status',
      entries: [
        { term: '0', text: 'Ended as it was told, or the last process ended by itself with 0.' },
        { term: '1', text: 'The command line is wrong, or a process had to be killed at the end.' },
        {
          term: '126, 127',
          text: 'The command is not executable, or there is none of this name.',
        },
        {
          term: 'another',
          text: 'That of the process whose end left nobody to serve; 128 and the number of the signal that killed it.',
        },
      ],
    },
  ];
}
