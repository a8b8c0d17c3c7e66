// The unit of examples/ is what it says: its command lines are understood, and its times fit together.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseArguments } from '../../../src/options/parse.js';
import { packageRoot } from '../../../src/base/package-root.js';
import { parseRestarterArguments } from '../../../src/restarter/parse.js';

const lines = readFileSync(join(packageRoot(), 'examples/fairlead.service'), 'utf8').split('\n');

/** Of each line with this key, in order. */
function valuesOf(key: string): string[] {
  return lines
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => line.slice(key.length + 1));
}

function wordsAfter(program: string, commandLine = ''): string[] {
  const [file, ...words] = commandLine.split(' ');
  assert.equal(file, program);
  return words;
}

test('systemd is more patient than the restarter that it starts', () => {
  const parsed = parseRestarterArguments(
    wordsAfter('/usr/bin/fairlead-hot-restarter', valuesOf('ExecStart')[0]),
  );
  assert.equal(parsed.kind, 'run', JSON.stringify(parsed));
  const { options } = parsed as Extract<typeof parsed, { kind: 'run' }>;
  assert.ok(parseInt(valuesOf('TimeoutStartSec')[0] ?? '', 10) * 1000 > options.readyTimeoutMs);
  assert.ok(parseInt(valuesOf('TimeoutStopSec')[0] ?? '', 10) * 1000 > options.termWaitMs);
  assert.deepEqual(valuesOf('Type'), ['notify']);
});

test('a reload checks the bootstrap that the start reads, then sends SIGHUP', () => {
  const [check, hangUp, ...rest] = valuesOf('ExecReload');
  const parsed = parseArguments(wordsAfter('/usr/bin/fairlead', check));
  assert.equal(parsed.kind, 'options');
  const { options } = parsed as Extract<typeof parsed, { kind: 'options' }>;

  assert.equal(options.mode, 'validate');
  assert.match(valuesOf('ExecStart')[0] ?? '', new RegExp(`-c ${options.configPath}$`));
  assert.deepEqual([hangUp, rest], ['/bin/kill -HUP $MAINPID', []]);
});
