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
  return new vm.Script(readWrapped(), {
    filename: file,
    ...(cachedData && { cachedData }),
  });
}

/**
 * As Node wraps each CommonJS module; but the text becomes a string only once, since long strings make
 * V8 collect garbage before the proxy serves. esbuild writes ASCII.
 */
function readWrapped(): string {
  const head = '(function (exports, require, module, __filename, __dirname) {';
  const tail = '\n})';
  const fd = fs.openSync(file, 'r');
  const { size } = fs.fstatSync(fd);
  const text = Buffer.allocUnsafeSlow(head.length + size + tail.length);
  text.write(head, 'latin1');
  fs.readSync(fd, text, head.length, size, 0);
  fs.closeSync(fd);
  text.write(tail, head.length + size, 'latin1');
  return text.toString('latin1');
}

function readCache(): Buffer | undefined {
  try {
    return fs.readFileSync(path.join(__dirname, 'command.cache'));
  } catch {
    return undefined;
  }
}

export = script;
