// What fairlead --help says besides the options.
import type { Manual } from './help.js';

export const MANUAL: Manual = {
  program: 'fairlead',
  usage: `Usage: $0 -c <file> [options]
or: $0 --mode validate -c <file>
or: $0 completion bash|zsh|fish

A network proxy. It takes the bootstrap file, the command line and the admin interface of Envoy.`,
  examples: [
    ['$0 -c proxy.yaml -l warning --log-path proxy.log', 'Logs what is doubtful, to a file.'],
    ['$0 -c proxy.yaml --config-yaml "node: {id: a}"', 'Changes one field of the file.'],
    ['source <($0 completion bash)', 'Completes options in this shell.'],
  ],
  notes: `Arguments:
  An option takes its value from the next word or after "=": --mode validate, --mode=validate. Each may be given once, unless it says otherwise. What follows -- is passed over.

Signals:
  SIGTERM, SIGINT  \tEnds: connections are closed, logs are written.
  SIGUSR1  \tOpens the log and all access logs anew, as after a rotation.
  SIGHUP  \tIs passed over, with a warning.

Exit status:
  0  \tEnded as it was told, or the bootstrap is valid.
  1  \tThe command line or the bootstrap is wrong, or an address is taken; standard error says which.`,
};
