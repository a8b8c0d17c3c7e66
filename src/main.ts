#!/usr/bin/env node
// The entry of the command (dist/cli.js). Signals first: all else takes some time to load.
import './cli/signals.js';

const { main } = await import('./cli/main.js');
process.exit(await main(process.argv.slice(2)));
