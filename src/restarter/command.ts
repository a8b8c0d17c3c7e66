// The command line of fairlead-hot-restarter: its own options first, then what it starts.
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';

export interface RestarterCommand {
  /** How often in a row it starts anew when the process that serves has died. */
  readonly maxRestarts: number;
  /** How long processes may take to end. */
  readonly terminationWaitMs: number;
  readonly program: string;
  /** For an epoch. */
  readonly argumentsFor: (epoch: number) => readonly string[];
}

export const USAGE = `usage: fairlead-hot-restarter [options] [--] program [arguments]
       fairlead-hot-restarter [options] [--] [options of fairlead]

Starts a program, and a successor of it on each SIGHUP. The program learns from the environment
variable RESTART_EPOCH which one it is, and gives fairlead that as its --restart-epoch. Without a
program, fairlead itself is started with these options.

  --max-restarts <count>       How often in a row epoch 0 is started anew when the process that serves
                               has died. 0 by default: this command ends as well, with exit code 1.
  --termination-wait-s <time>  How long processes may take to end before they are killed; 30 by default.
  --help                       Prints this text, and ends.

  SIGHUP            starts the next epoch; the one before it goes on until that one is LIVE
  SIGTERM, SIGINT   end all processes, and this command
  SIGUSR1           is passed on: logs are opened anew
`;

/** A text is what is wrong. Undefined: help is wanted. */
export function parseCommand(words: readonly string[]): RestarterCommand | string | undefined {
  const numbers = new Map([
    ['--max-restarts', 0],
    ['--termination-wait-s', 30],
  ]);
  let at = 0;
  for (; at < words.length; at += 1) {
    const [name = '', inline] = (words[at] ?? '').split('=', 2);
    if (name === '--help') return undefined;
    if (!numbers.has(name)) break;
    if (inline === undefined) at += 1;
    const text = inline ?? words[at];
    if (text === undefined || !/^\d{1,6}$/.test(text)) {
      return `${name}: '${text ?? ''}' is not a number; expected 0 to 999999`;
    }
    numbers.set(name, Number(text));
  }
  if (words[at] === '--') at += 1;
  const rest = words.slice(at);
  if (rest.length === 0)
    return 'there is nothing to start; expected a program, or -c bootstrap.yaml';
  return {
    maxRestarts: numbers.get('--max-restarts') ?? 0,
    terminationWaitMs: (numbers.get('--termination-wait-s') ?? 0) * 1000,
    ...programOf(rest),
  };
}

function programOf(rest: readonly string[]): Pick<RestarterCommand, 'program' | 'argumentsFor'> {
  const [program = '', ...given] = rest;
  if (!program.startsWith('-')) return { program, argumentsFor: () => given };
  const cli = join(packageRoot(), 'dist', 'cli.js');
  return {
    program: process.execPath,
    argumentsFor: (epoch) => [cli, ...rest, '--restart-epoch', String(epoch)],
  };
}
