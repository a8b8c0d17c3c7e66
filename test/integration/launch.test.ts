// dist/cli.js runs dist/command.js from bytecode that the build has kept. Whatever becomes of it, the
// command does the same.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { packageRoot } from '../../src/base/package-root.js';
import { makeFolder } from './support/start-proxy.js';

const dist = join(packageRoot(), 'dist');

function node(...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return stdout + stderr;
}

/** A copy of what --version needs; its bytecode may be changed. */
function copyPackage(t: TestContext): string {
  const folder = makeFolder(t);
  for (const name of ['binding.gyp', 'package.json']) {
    cpSync(join(packageRoot(), name), join(folder, name));
  }
  mkdirSync(join(folder, 'dist'));
  for (const name of ['cli.js', 'command.js', 'command.cache', 'package.json', 'build.json']) {
    cpSync(join(dist, name), join(folder, 'dist', name));
  }
  return folder;
}

test('V8 takes the bytecode that the build has kept', () => {
  const code = `
    process.argv = ['node', 'fairlead', '--hot-restart-version'];
    const { cachedDataRejected } = require(${JSON.stringify(join(dist, 'cli.js'))});
    console.log('rejected:', cachedDataRejected);`;
  assert.match(node('-e', code), /rejected: false/);
});

test('the command runs without its bytecode, and with what is none', (t) => {
  const folder = copyPackage(t);
  const cache = join(folder, 'dist', 'command.cache');
  const version = node(join(dist, 'cli.js'), '--version');
  assert.match(version, /^\nfairlead {2}version: /);

  writeFileSync(cache, 'not what V8 writes');
  assert.equal(node(join(folder, 'dist', 'cli.js'), '--version'), version);
  rmSync(cache);
  assert.equal(node(join(folder, 'dist', 'cli.js'), '--version'), version);
});

test('the command runs under other flags of V8 than it was built with', () => {
  const version = node(join(dist, 'cli.js'), '--version');
  assert.equal(node('--no-opt', join(dist, 'cli.js'), '--version'), version);
});

test('with --enable-source-maps a stack trace names the sources', (t) => {
  const hook = join(makeFolder(t), 'hook.cjs');
  writeFileSync(
    hook,
    `const fs = require('node:fs');
    const read = fs.readFileSync;
    fs.readFileSync = (path, ...rest) => {
      if (new Error().stack.includes('packageVersion')) throw new Error('from the hook');
      return read(path, ...rest);
    };`,
  );
  const output = node('--enable-source-maps', '-r', hook, join(dist, 'cli.js'), '--version');
  assert.match(output, /from the hook[^]* at packageVersion \(.*src\/base\/version\.ts:\d+:\d+\)/);
});

test('without its addon the command says in one line how to build it', (t) => {
  const folder = copyPackage(t);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'dist', 'cli.js'), '--config-yaml', '{}', '--mode', 'validate'],
    { encoding: 'utf8' },
  );
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^error: the native addon cannot be loaded \(.+\); .+\n$/);
  assert.ok(stderr.endsWith(`: node '${join(folder, 'scripts', 'build-native.mjs')}'\n`), stderr);
});

test('the library is there for import and for require', async () => {
  const library = join(dist, 'index.js');
  const imported = (await import(library)) as object;
  const required = createRequire(import.meta.url)(library) as object;
  for (const name of ['Proxy', 'StartError']) {
    assert.ok(name in imported, `import: ${name}`);
    assert.ok(name in required, `require: ${name}`);
  }
});
