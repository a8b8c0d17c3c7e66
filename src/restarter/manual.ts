// What fairlead-hot-restarter --help says besides the options.
import type { Manual } from '../cli/help.js';

export const RESTARTER_MANUAL: Manual = {
  program: 'fairlead-hot-restarter',
  usage: `Usage: $0 [options] -c <file> [fairlead's options]
or: $0 [options] -- <command> [arguments]
or: $0 [options] <script> [arguments]

Runs a proxy, and replaces it by a new process without losing a connection whenever it gets SIGHUP: for another configuration, or another version.`,
  examples: [],
  notes: `What is run:
  Fairlead: each process is told its epoch; --use-dynamic-base-id works for all of them. Or a command, or a script (one of this folder needs no ./ before its name), with the epoch in the environment variable RESTART_EPOCH. It is to end in something like: exec fairlead -c proxy.yaml --restart-epoch "$RESTART_EPOCH"

When a process is live:
  Fairlead says so itself. Of another command it is learnt from its admin server (--ready-address, --ready-address-path) or taken for granted after a while (--ready-after-s). One that ends before or takes too long leaves the one before it serving, and the next SIGHUP tries the same epoch again.

Signals:
  SIGHUP  \tStarts the next epoch; while one is starting, once it has.
  SIGTERM, SIGINT  \tEnds all processes, and then itself. A second one kills what is left.
  SIGUSR1  \tGoes to all processes: logs are opened anew.

Exit status:
  0  \tEnded as it was told, or the last process ended by itself with 0.
  1  \tThe command line is wrong, or a process had to be killed at the end.
  126, 127  \tThe command is not executable, or there is none of this name.
  another  \tThat of the process whose end left nobody to serve; 128 and the number of the signal that killed it.`,
};
