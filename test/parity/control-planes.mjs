// A thousand updates by chance, good and bad, over four ways to a control plane and under traffic: of this
// proxy and of the real server, which must take and refuse the same ones, and show the same in the end.
//
//   node test/parity/control-planes.mjs ENVOY [SEED]
//
// Each side plays test/integration/random-updates.test.ts, which says of each side alone that no request
// failed, that what was refused was refused for its field, and that the end is the control plane's.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleTests, testOptions } from '../../scripts/node-tests.mjs';

const UPDATES_PER_WAY = 250;
const [envoy, seed = '1'] = process.argv.slice(2);
if (!envoy) {
  console.error('usage: node test/parity/control-planes.mjs ENVOY [SEED]');
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'control-planes-'));
const files = await bundleTests('integration', ['random-updates.test.ts']);

function play(name, command) {
  const verdicts = join(folder, name);
  const { status } = spawnSync(process.execPath, [...testOptions(600_000), ...files], {
    stdio: 'inherit',
    env: {
      ...process.env,
      FAIRLEAD_SEED: seed,
      FAIRLEAD_UPDATES: String(UPDATES_PER_WAY),
      FAIRLEAD_VERDICTS: verdicts,
      ...(command && { FAIRLEAD_TEST_COMMAND: command }),
    },
  });
  const lines = readFileSync(verdicts, 'utf8').trim().split('\n').sort();
  return { isGood: status === 0, lines };
}

const own = play('fairlead');
const real = play('envoy', envoy);
rmSync(folder, { recursive: true });
const others = new Set(real.lines);
const differing = own.lines.filter((line) => !others.has(line));
for (const line of differing) console.log(`only here: ${line}`);
console.log(
  `${own.lines.length} and ${real.lines.length} verdicts and lines of pages, ${differing.length} of them others`,
);
const isSame = differing.length === 0 && own.lines.length === real.lines.length;
process.exitCode = own.isGood && real.isGood && isSame ? 0 : 1;
