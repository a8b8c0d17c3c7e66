// The options of fairlead-hot-restarter: the one table that drives their reading and --help.
import type { OptionInfo } from '../options/option-info.js';

const LONGEST_S = 24 * 60 * 60;

const checkSeconds =
  (name: string) =>
  (value: string): string | undefined =>
    Number(value) <= LONGEST_S
      ? undefined
      : `invalid --${name} ${value}; expected seconds, at most ${LONGEST_S} (a day)`;

function checkAddress(address: string): string | undefined {
  return /^(\[[\da-fA-F:.]+\]|[^:\s/]+):\d{1,5}$/.test(address)
    ? undefined
    : `invalid --ready-address '${address}'; expected <host>:<port> of an admin server`;
}

export const RESTARTER_OPTIONS: readonly OptionInfo[] = [
  {
    name: 'ready-timeout-s',
    kind: 'number',
    default: 60,
    value: 'seconds',
    group: 'Hot restart',
    help: 'How long a process may take to become LIVE. One that takes longer is ended, and the one before it goes on serving. 0 waits for ever.',
    check: checkSeconds('ready-timeout-s'),
  },
  {
    name: 'ready-after-s',
    kind: 'number',
    isDecidedLater: true,
    value: 'seconds',
    group: 'Hot restart',
    help: 'For a command that does not say when it is LIVE: it is taken for LIVE when it has run for so long.',
    check: checkSeconds('ready-after-s'),
  },
  {
    name: 'ready-address',
    kind: 'text',
    value: 'host:port',
    group: 'Hot restart',
    help: 'For a command that does not say when it is LIVE: the address of its admin server, whose /server_info is asked.',
    check: checkAddress,
  },
  {
    name: 'ready-address-path',
    kind: 'text',
    value: 'file',
    group: 'Hot restart',
    help: "The same, for an address that is in a file: the command's --admin-address-path.",
  },
  {
    name: 'term-wait-s',
    kind: 'number',
    default: 30,
    value: 'seconds',
    group: 'Hot restart',
    help: 'How long processes may take to end after SIGTERM before they are killed. Should be less than the patience of whoever ends the restarter.',
    check: checkSeconds('term-wait-s'),
  },
  {
    name: 'max-restarts',
    kind: 'number',
    default: 0,
    value: 'count',
    group: 'Hot restart',
    help: 'How many times a proxy that served and crashed is started anew, within the time of --restart-window-s. With one crash more, the restarter ends with the exit code of the crash. 0 leaves all of that to the service manager.',
  },
  {
    name: 'restart-window-s',
    kind: 'number',
    default: 60,
    value: 'seconds',
    group: 'Hot restart',
    help: 'The time in which crashes are counted.',
    check: checkSeconds('restart-window-s'),
  },
  {
    name: 'version',
    kind: 'flag',
    group: 'Information',
    help: 'Prints the version, and ends.',
  },
  {
    name: 'help',
    alias: 'h',
    kind: 'flag',
    group: 'Information',
    help: 'Prints this text, and ends.',
  },
];
