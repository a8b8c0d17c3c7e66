// What shells offer: yargs' script asks the command how words go on.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { packageRoot } from '../../src/base/package-root.js';
import { OPTION_LIST } from '../../src/options/options.js';
import { makeFolder, runCommand } from './support/start-proxy.js';

/** What bash offers for the last of these words. */
async function offersOf(t: TestContext): Promise<(...words: readonly string[]) => string[]> {
  const folder = makeFolder(t);
  const command = join(folder, 'fairlead');
  writeFileSync(
    command,
    `#!/bin/sh\nexec '${process.execPath}' '${packageRoot()}/dist/cli.js' "$@"\n`,
  );
  chmodSync(command, 0o755);
  const env = { ...process.env, SHELL: 'bash', PATH: `${folder}${delimiter}${process.env.PATH}` };
  const { stdout: script } = await runCommand(t, 'completion', 'bash');
  return (...words) => {
    const quoted = ['fairlead', ...words].map((word) => `'${word}'`).join(' ');
    const ask = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _fairlead_yargs_completions
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', `${script}\n${ask}`], {
      env,
      encoding: 'utf8',
    });
    assert.equal(stderr, '');
    return stdout.split('\n').filter((line) => line !== '');
  };
}

test('each shell gets a script that its kind of completion takes', async (t) => {
  const complete: Record<string, RegExp> = {
    bash: /^complete .* -F _fairlead_yargs_completions fairlead$/m,
    zsh: /^#compdef fairlead$/m,
    fish: /^complete .* -c fairlead -a /m,
  };
  for (const [shell, registers] of Object.entries(complete)) {
    const { code, stdout, stderr } = await runCommand(t, 'completion', shell);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, registers);
  }
  const { stdout } = await runCommand(t, 'completion', 'bash');
  assert.equal(spawnSync('bash', ['-n'], { input: stdout }).status, 0);
});

test('there is no script for another shell', async (t) => {
  const { code, stdout, stderr } = await runCommand(t, 'completion', 'csh');
  assert.deepEqual([code, stdout], [1, '']);
  assert.equal(
    stderr,
    "error: no completion for the shell 'csh'; expected fairlead completion bash|zsh|fish\n",
  );
});

test('bash offers every option, and those that go on as the word begins', async (t) => {
  const offered = await offersOf(t);
  const names = OPTION_LIST.map(({ name }) => `--${name}`);

  assert.deepEqual(offered('--').toSorted(), names.toSorted());
  assert.deepEqual(offered('--drain-'), ['--drain-time-s', '--drain-strategy']);
  assert.deepEqual(offered('com'), ['completion']);
});

test('bash offers the values that an option takes, also after an equals sign', async (t) => {
  const offered = await offersOf(t);

  assert.deepEqual(offered('--mode', ''), ['serve', 'validate', 'init_only']);
  assert.deepEqual(offered('-l', 'w'), ['warning']);
  // The sign is a word of its own to bash.
  assert.deepEqual(offered('--drain-strategy', '=', 'i'), ['immediate']);
  assert.deepEqual(offered('completion', ''), ['bash', 'zsh', 'fish']);
});

test('where a file or a number is wanted bash goes on by itself, with names of files', async (t) => {
  const offered = await offersOf(t);

  assert.deepEqual(offered('-c', ''), []);
  assert.deepEqual(offered('--concurrency', ''), []);
});
