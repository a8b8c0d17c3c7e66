// The bootstraps of examples/ are what they say: fairlead takes every one of them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/base/package-root.js';

const folder = join(packageRoot(), 'examples');
const examples = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

for (const name of examples) {
  test(`examples/${name} is valid`, () => {
    const command = join(packageRoot(), 'dist/cli.js');
    const args = [command, '-c', join(folder, name), '--mode', 'validate'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /OK\n$/);
  });
}

test('examples/README.md lists every example and nothing else', () => {
  const text = readFileSync(join(folder, 'README.md'), 'utf8');
  const listed = [...text.matchAll(/^\| \[(.+\.yaml)\]/gm)].map((match) => match[1]);
  assert.deepEqual(listed.toSorted(), examples.toSorted());
});
