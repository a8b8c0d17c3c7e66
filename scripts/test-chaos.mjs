// The stories of test/chaos: traffic of all kinds, good and bad, through a proxy whose addon has
// AddressSanitizer and UBSan. It is one of its own, in build/sanitized, and shares its objects with the
// sanitized native tests.
//   --seed N       other traffic: 1 by default
//   --seconds N    of traffic: 12 by default
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { valueOf } from './arguments.mjs';
import { FILE_LIMIT_MS, bundleTests, testOptions } from './node-tests.mjs';
import { must, root } from './set-up.mjs';

const jobs = process.env.FAIRLEAD_BUILD_JOBS ?? String(availableParallelism());

/** The package as it is installed, but for the addon. No links: code finds its package by where it is. */
function putPackage() {
  const folder = join(root, 'build', 'sanitized');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'binding.gyp']) cpSync(join(root, name), join(folder, name));
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  const addon = join(root, 'build', 'native', 'sanitize', 'fairlead.node');
  cpSync(addon, join(folder, 'dist', 'fairlead.node'));
}

must('the sanitized addon', 'make', ['-s', '-C', 'native', `-j${jobs}`, 'SANITIZE=1', 'addon']);
putPackage();
const seconds = Number(valueOf('seconds') ?? 12);
must(
  'chaos',
  process.execPath,
  // Forced: whatever clients have left open.
  [
    ...testOptions(FILE_LIMIT_MS + seconds * 1000),
    '--test-force-exit',
    ...(await bundleTests('chaos')),
  ],
  {
    env: {
      ...process.env,
      FAIRLEAD_CHAOS_SEED: valueOf('seed') ?? '1',
      FAIRLEAD_CHAOS_SECONDS: String(seconds),
    },
  },
);
