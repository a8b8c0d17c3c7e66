#!/usr/bin/env node
// The entry of the command (dist/cli.js): runs dist/command.js from the bytecode that the build has
// kept (scripts/code-cache.mjs), so that a start compiles nothing. V8 refuses what another version of
// it made, or one with other flags; it compiles everything then. This is CommonJS, as all of dist/:
// Node's loader of ES modules takes longer to start than the proxy does.
import fs = require('node:fs');
import path = require('node:path');
import vm = require('node:vm');

const file = path.join(__dirname, 'command.js');

/** What runs: its bytecode is what a build keeps. Undefined where source maps are wanted. */
const script = process.sourceMapsEnabled ? undefined : prepare();
if (script) {
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(exports, require, module, file, __dirname);
} else {
  // Node reads source maps of what it loads itself only.
  require(file);
}

function prepare(): vm.Script {
  const cachedData = readCache();
  // esbuild writes ASCII.
  return new vm.Script(wrapped(fs.readFileSync(file, 'latin1')), {
    filename: file,
    ...(cachedData && { cachedData }),
  });
}

/** As Node wraps each CommonJS module; node:module, which does it, takes time to load. */
function wrapped(text: string): string {
  return `(function (exports, require, module, __filename, __dirname) {${text}\n})`;
}

function readCache(): Buffer | undefined {
  try {
    return fs.readFileSync(path.join(__dirname, 'command.cache'));
  } catch {
    return undefined;
  }
}

export = script;
