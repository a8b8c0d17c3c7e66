// The native tests without Node, then each fuzz target for a moment with a fixed seed.
// --sanitize: with AddressSanitizer and UBSan. --seconds N: of each fuzz target.
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { must, root } from './set-up.mjs';

const sanitize = process.argv.includes('--sanitize');
const secondsAt = process.argv.indexOf('--seconds');
const seconds = secondsAt < 0 ? '2' : process.argv[secondsAt + 1];
const SEED = '1';
const make = ['-s', '-C', 'native', `-j${availableParallelism()}`, ...(sanitize ? ['SANITIZE=1'] : [])];
must('the native tests', 'make', [...make, 'test']);
must('building the fuzz targets', 'make', [...make, 'fuzz']);
const folder = join(root, 'build', 'native', sanitize ? 'sanitize' : 'release');
for (const name of readdirSync(folder).filter((file) => file.startsWith('fuzz-'))) {
  must(name, join(folder, name), [seconds, SEED]);
}
