#!/usr/bin/env node
// The entry of the command (dist/cli.js).
import { main } from './cli/main.js';

process.exit(await main(process.argv.slice(2)));
