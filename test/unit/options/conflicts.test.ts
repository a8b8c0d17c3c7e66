import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArguments } from '../../../src/options/parse.js';
import { optionsOf } from '../support/options.js';

function conflictOf(...words: readonly string[]): string {
  const parsed = parseArguments(words);
  assert.equal(parsed.kind, 'error', JSON.stringify(parsed));
  return parsed.kind === 'error' ? parsed.message : '';
}

test('levels of components do not go with levels of files', () => {
  assert.equal(
    conflictOf('--component-log-level', 'http:info', '--enable-fine-grain-logging'),
    '--component-log-level will not work with --enable-fine-grain-logging',
  );
  assert.ok(optionsOf('--enable-fine-grain-logging', '-l', 'debug').enableFineGrainLogging);
});

test('a dynamic base id is for the first epoch only', () => {
  assert.equal(
    conflictOf('--use-dynamic-base-id', '--restart-epoch', '2'),
    'cannot use --restart-epoch=2 with --use-dynamic-base-id; expected --base-id with the id of the first epoch',
  );
  assert.equal(optionsOf('--use-dynamic-base-id', '--restart-epoch', '0').restartEpoch, 0);
  assert.equal(optionsOf('--base-id', '7', '--restart-epoch', '2').restartEpoch, 2);
});

test('a permission for abstract sockets is refused where sockets are made', () => {
  const reason = 'is an abstract name; expected the path of a file, or no permission';
  assert.equal(
    conflictOf('--socket-mode', '600'),
    `a permission for sockets needs files: --socket-path=@proxy_domain_socket ${reason}`,
  );
  assert.match(
    conflictOf('--socket-path', '@x', '--socket-mode', '600'),
    /=@x is an abstract name/,
  );
  assert.equal(optionsOf('--socket-mode', '600', '--mode', 'validate').socketPermission, 0);
  assert.equal(optionsOf('--socket-mode', '600', '--disable-hot-restart').socketPermission, 0);
  assert.equal(optionsOf('--socket-mode', '600', '--socket-path', 'x').socketPermission, 0o600);
});

test('conflicts are refused before the hot restart version is printed', () => {
  conflictOf('--hot-restart-version', '--use-dynamic-base-id', '--restart-epoch', '1');
});
