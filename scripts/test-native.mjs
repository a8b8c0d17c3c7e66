// The native tests, without Node; then every fuzz target for a moment, with a fixed seed, after the
// inputs that longer runs have found (scripts/fuzz.mjs).
//   --sanitize    with AddressSanitizer and UBSan
//   --build       compiles them, and the addon of test/chaos, and runs nothing
//   --seconds N   of each fuzz target: 1 by default
//   --seed N      1 by default
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isGiven, valueOf } from './arguments.mjs';
import { must, mustHaveEnded, root, say } from './set-up.mjs';

const isSanitized = isGiven('sanitize');
const seconds = valueOf('seconds') ?? '1';
const seed = valueOf('seed') ?? '1';
const jobs = process.env.FAIRLEAD_BUILD_JOBS ?? String(availableParallelism());

function make(what, target) {
  must(what, 'make', [
    '-s',
    '-C',
    'native',
    `-j${jobs}`,
    ...(isSanitized ? ['SANITIZE=1'] : []),
    target,
  ]);
}

if (isGiven('build')) {
  make('building the native tests', 'test-build');
  make('building the fuzz targets', 'fuzz');
  make('building the addon', 'addon');
  process.exit(0);
}
make('the native tests', 'test');
make('building the fuzz targets', 'fuzz');
const folder = join(root, 'build', 'native', isSanitized ? 'sanitize' : 'checked');
const targets = readdirSync(folder).filter((name) => name.startsWith('fuzz-'));
say(`fuzzing ${targets.length} targets for ${seconds} s each`);
// A target writes the input that fails to the current folder.
const waiting = [...targets];
await Promise.all(Array.from({ length: availableParallelism() }, fuzzNext));

/** One after the other, as long as there are any. */
async function fuzzNext() {
  for (let name = waiting.shift(); name; name = waiting.shift()) {
    const corpus = join(root, 'test/fuzz/corpora', `${name.slice('fuzz-'.length)}.corpus`);
    await mustRun(name, join(folder, name), [`${seconds}s`, seed, corpus], folder);
  }
}

function mustRun(what, program, args, cwd) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, stdio: 'inherit' });
    child.on('error', (error) => mustHaveEnded(what, { error }));
    child.on('exit', (status, signal) => {
      mustHaveEnded(what, { status, signal });
      resolve();
    });
  });
}
