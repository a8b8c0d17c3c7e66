import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { completionScript } from '../../../src/cli/completion.js';
import { OPTION_LIST } from '../../../src/options/options.js';

const folder = mkdtempSync(join(tmpdir(), 'completion-'));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'boot strap.yaml'), '');
writeFileSync(join(folder, 'other.json'), '');
const script = completionScript('bash', 'fairlead') ?? '';

/** What bash offers for the last of these words. */
function offered(...words: readonly string[]): readonly string[] {
  const quoted = ['fairlead', ...words].map((word) => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _fairlead
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', `${script}\n${ask}`], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return stdout.split('\n').filter((line) => line !== '');
}

test('bash accepts the script, and knows then how to complete the command', () => {
  const ask = 'complete -p fairlead';
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', `${script}\n${ask}`], {
    encoding: 'utf8',
  });

  assert.equal(spawnSync('bash', ['-n'], { input: script }).status, 0);
  assert.equal(stderr, '');
  assert.equal(stdout, 'complete -F _fairlead fairlead\n');
});

test('bash offers every option, and those that go on as the word begins', () => {
  const names = OPTION_LIST.map(({ name }) => `--${name}`);

  assert.deepEqual(
    offered('-c', 'x', '--')
      .filter((word) => word !== '--')
      .toSorted(),
    names.toSorted(),
  );
  assert.deepEqual(offered('--drain-'), ['--drain-time-s', '--drain-strategy']);
  assert.deepEqual(offered('--nothing'), []);
});

test('bash offers the values that an option takes', () => {
  assert.deepEqual(offered('--mode', ''), ['serve', 'validate', 'init_only']);
  assert.deepEqual(offered('--mode', 'v'), ['validate']);
  assert.deepEqual(offered('-l', 'w'), ['warning']);
  assert.deepEqual(offered('--concurrency', ''), []);
});

test('bash offers values after an equals sign, which it takes for a word', () => {
  assert.deepEqual(offered('--drain-strategy', '='), ['gradual', 'immediate']);
  assert.deepEqual(offered('--drain-strategy', '=', 'i'), ['immediate']);
});

test('bash offers files where a file is wanted, blanks and all', () => {
  assert.deepEqual(offered('-c', 'b'), ['boot strap.yaml']);
  assert.deepEqual(offered('--log-path', 'o'), ['other.json']);
});

test('bash offers the shells that there is a script for', () => {
  assert.deepEqual(offered('com'), ['completion']);
  assert.deepEqual(offered('completion', ''), ['bash', 'zsh']);
});

test('the script for zsh quotes its descriptions, and has a line for each way to write an option', () => {
  const lines = (completionScript('zsh', 'fairlead') ?? '').split('\n');
  const specs = lines.filter((line) => line.startsWith("    '"));

  const ways = OPTION_LIST.flatMap(({ name, alias }) =>
    alias === undefined ? [name] : [name, alias],
  );
  // One more completes the command `completion`.
  assert.equal(specs.length, ways.length + 1);
  for (const spec of specs) assert.match(spec, /^ {4}'(?:[^']|'\\'')*'(?: \\)?$/);
  assert.ok(specs.some((spec) => spec.includes(':(serve validate init_only)')));
  assert.ok(specs.some((spec) => spec.includes("'*--stats-tag=[")));
});

test('there is no script for another shell', () => {
  assert.equal(completionScript('fish', 'fairlead'), undefined);
});
