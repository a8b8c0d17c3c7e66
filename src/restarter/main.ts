#!/usr/bin/env node
// The entry of fairlead-hot-restarter (dist/hot-restarter.js). Signals first, as in the command.
import '../cli/signals.js';
import { runRestarter } from './run.js';

void runRestarter(process.argv.slice(2)).then((code) => process.exit(code));
