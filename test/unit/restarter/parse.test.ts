import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/base/package-root.js';
import { parseRestarterArguments } from '../../../src/restarter/parse.js';

type Run = Extract<ReturnType<typeof parseRestarterArguments>, { kind: 'run' }>;

function parse(...words: readonly string[]): Run {
  const parsed = parseRestarterArguments(words);
  assert.equal(parsed.kind, 'run', JSON.stringify(parsed));
  return parsed as Run;
}

function commandLine(words: readonly string[], epoch = 0): readonly string[] {
  const { command } = parse(...words);
  return [command.file, ...command.arguments(epoch)];
}

function fairlead(...words: readonly string[]): readonly string[] {
  return [process.execPath, ...process.execArgv, join(packageRoot(), 'dist/cli.js'), ...words];
}

function errorOf(...words: readonly string[]): string {
  const parsed = parseRestarterArguments(words);
  assert.equal(parsed.kind, 'error', JSON.stringify(parsed));
  return (parsed as { message: string }).message;
}

test('a command stands after --, and its words are not looked at', () => {
  const words = ['--max-restarts', '3', '--', 'envoy', '--ready-timeout-s', '-c', '--'];

  assert.deepEqual(commandLine(words, 4), ['envoy', '--ready-timeout-s', '-c', '--']);
  assert.equal(parse(...words).options.maxRestarts, 3);
});

test('the first word that is no option begins a command', () => {
  assert.deepEqual(commandLine(['--term-wait-s=5', '/etc/start.sh', '-c', 'x']), [
    '/etc/start.sh',
    '-c',
    'x',
  ]);
});

test('a script of this folder is found by its name alone, but only without --', (t) => {
  const before = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
  t.after(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
  process.chdir(folder);
  writeFileSync('start.sh', '#!/bin/sh\n');
  assert.deepEqual(commandLine(['start.sh']), ['start.sh']);
  chmodSync('start.sh', 0o755);

  assert.deepEqual(commandLine(['start.sh']), ['./start.sh']);
  assert.deepEqual(commandLine(['--', 'start.sh']), ['start.sh']);
});

test("fairlead's own options run fairlead, with the epoch as the last", () => {
  const words = ['-c', 'a.yaml', '--max-restarts', '2', '--concurrency=4', '--term-wait-s', '1'];

  assert.deepEqual(
    commandLine(words, 7),
    fairlead('--config-path', 'a.yaml', '--concurrency', '4', '--restart-epoch', '7'),
  );
  assert.deepEqual(parse(...words).options, {
    readyTimeoutMs: 60_000,
    termWaitMs: 1000,
    maxRestarts: 2,
    restartWindowMs: 60_000,
  });
});

test("fairlead's options may stand after -- as well", () => {
  assert.deepEqual(
    commandLine(['--max-restarts', '2', '--', '-c', 'a.yaml']),
    fairlead('--config-path', 'a.yaml', '--restart-epoch', '0'),
  );
});

test('a dynamic base id is chosen by the first epoch, and that of its successors', (t) => {
  const { command } = parse('-c', 'a.yaml', '--use-dynamic-base-id');
  t.after(() => command.close?.());
  const [, , , , path = '', ...rest] = command.arguments(0).slice(process.execArgv.length);

  assert.deepEqual(command.arguments(0), [
    ...fairlead('--config-path', 'a.yaml', '--use-dynamic-base-id').slice(1),
    ...['--base-id-path', rest[0] ?? '', '--restart-epoch', '0'],
  ]);
  assert.equal(path, '--base-id-path');
  assert.throws(() => command.arguments(1), /ENOENT/);
  writeFileSync(rest[0] ?? '', '4711\n');
  assert.deepEqual(
    command.arguments(1),
    fairlead('--config-path', 'a.yaml', '--base-id', '4711', '--restart-epoch', '1').slice(1),
  );
});

test('how a command becomes LIVE is what options say', () => {
  assert.deepEqual(parse('--ready-after-s', '2', '--', 'x').readiness, {
    afterMs: 2000,
    adminAddress: undefined,
    adminAddressPath: undefined,
  });
  assert.equal(parse('--ready-address=[::1]:9901', 'x').readiness.adminAddress, '[::1]:9901');
});

test('what makes no sense is refused with what was expected', () => {
  const ways = 'expected a command after --, or options of fairlead';
  assert.equal(errorOf(), `there is nothing to run; ${ways}`);
  assert.equal(errorOf('--'), `there is no command after --; ${ways}`);
  assert.equal(
    errorOf('-c', 'a.yaml', '--', 'envoy'),
    `--config-path is an option of fairlead, and 'envoy' is to be run; ${ways}, not both`,
  );
  assert.match(
    errorOf('-c', 'a', '--restart-epoch', '1'),
    /^--restart-epoch is what the restarter/,
  );
  assert.match(
    errorOf('-c', 'a', '--disable-hot-restart'),
    /^with --disable-hot-restart no process/,
  );
  assert.equal(
    errorOf('--ready-address', 'localhost', 'x'),
    "invalid --ready-address 'localhost'; expected <host>:<port> of an admin server",
  );
  assert.equal(
    errorOf('--term-wait-s', '90000', 'x'),
    'invalid --term-wait-s 90000; expected seconds, at most 86400 (a day)',
  );
});

test('an option that is unknown is compared with those of both commands', () => {
  const whyOf = (...words: readonly string[]): string => {
    const parsed = parseRestarterArguments(words);
    return parsed.kind === 'parse-error' ? parsed.why : parsed.kind;
  };

  assert.match(whyOf('--max-restart', '3', '--', 'x'), /did you mean --max-restarts\?/);
  assert.match(whyOf('--config-pat', 'a.yaml'), /did you mean --config-path\?/);
  assert.equal(whyOf('--help'), 'help');
  assert.equal(whyOf('--version', '--', 'x'), 'version');
});
