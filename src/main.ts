// The command (dist/command.js, which launch.cts runs). Signals first: all else takes some time to
// load.
import './cli/signals.js';
import { main } from './cli/main.js';
import { nameProcess } from './cli/process-name.js';
import { AddonError } from './native.js';

const words = process.argv.slice(2);
nameProcess('fairlead', words);
main(words).then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (!(error instanceof AddonError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exit(1);
  },
);
