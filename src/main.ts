// The command (dist/command.js, which launch.cts runs). Signals first: all else takes some time to
// load.
import './cli/signals.js';
import { main } from './cli/main.js';

void main(process.argv.slice(2)).then((code) => process.exit(code));
