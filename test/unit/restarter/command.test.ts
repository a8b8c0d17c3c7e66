import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/package-root.js';
import { parseCommand, type RestarterCommand } from '../../../src/restarter/command.js';

function commandOf(...words: readonly string[]): RestarterCommand {
  const command = parseCommand(words);
  assert.ok(typeof command === 'object');
  return command;
}

test('a program is started with its arguments, whatever the epoch', () => {
  const command = commandOf('--max-restarts', '3', '--', './start.sh', '--max-restarts', '9');

  assert.equal(command.program, './start.sh');
  assert.deepEqual(command.argumentsFor(2), ['--max-restarts', '9']);
  assert.equal(command.maxRestarts, 3);
});

test('without a program fairlead is started, and told its epoch', () => {
  const command = commandOf('--termination-wait-s=5', '-c', 'x.yaml');

  assert.equal(command.program, process.execPath);
  assert.deepEqual(command.argumentsFor(2), [
    join(packageRoot(), 'dist', 'cli.js'),
    ...['-c', 'x.yaml', '--restart-epoch', '2'],
  ]);
  assert.equal(command.terminationWaitMs, 5000);
});

test('what makes no sense is said', () => {
  assert.equal(
    parseCommand(['--max-restarts', 'many', 'x']),
    "--max-restarts: 'many' is not a number; expected 0 to 999999",
  );
  assert.equal(
    parseCommand(['--max-restarts']),
    "--max-restarts: '' is not a number; expected 0 to 999999",
  );
  assert.equal(
    parseCommand([]),
    'there is nothing to start; expected a program, or -c bootstrap.yaml',
  );
  assert.equal(parseCommand(['--help']), undefined);
});
