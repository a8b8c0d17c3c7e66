import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPTION_LIST } from '../../../src/options/options.js';
import { parseArguments } from '../../../src/options/parse.js';
import { optionsOf } from '../support/options.js';

function errorOf(...words: readonly string[]): string {
  const parsed = parseArguments(words);
  assert.equal(parsed.kind, 'error', JSON.stringify(parsed));
  return parsed.kind === 'error' ? parsed.message : '';
}

test('without options everything has its default', () => {
  const options = optionsOf();

  assert.equal(options.configPath, '');
  assert.equal(options.concurrency, undefined);
  assert.equal(options.mode, 'serve');
  assert.equal(options.level, 'info');
  assert.equal(options.fileFlushIntervalMsec, 10_000);
  assert.equal(options.drainTimeS, 600);
  assert.equal(options.localAddressIpVersion, 'v4');
  assert.deepEqual(options.statsTag, []);
});

test('levels are read from their names; "warn" means warning', () => {
  const options = optionsOf('-l', 'warn', '--component-log-level', 'upstream:debug,http:off');

  assert.equal(options.level, 'warning');
  assert.deepEqual(
    [...options.componentLevels],
    [
      ['upstream', 'debug'],
      ['http', 'off'],
    ],
  );
});

test('a tag is split at its first colon', () => {
  const { fixedTags } = optionsOf('--stats-tag', 'a:b:c', '--stats-tag', 'd:e/f');

  assert.deepEqual(fixedTags, [
    ['a', 'b:c'],
    ['d', 'e/f'],
  ]);
});

test('values that mean nothing are refused in the words of the real server, and with what is near', () => {
  const levels = 'trace, debug, info, warning, error, critical, off';
  const cases: [string[], string][] = [
    [['--mode', 'x'], "unknown mode 'x'; expected one of serve, validate, init_only"],
    [['--mode', 'validat'], "unknown mode 'validat'; did you mean 'validate'?"],
    [['-l', 'bogus'], `invalid log level specified 'bogus'; expected one of ${levels}`],
    [['-l', 'INFO'], "invalid log level specified 'INFO'; did you mean 'info'?"],
    [
      ['--component-log-level', 'http:debugg'],
      "invalid log level specified 'debugg'; did you mean 'debug'?",
    ],
    [
      ['--component-log-level', 'upsteam:info'],
      "invalid component specified 'upsteam'; did you mean 'upstream'?",
    ],
    [
      ['--component-log-level', 'http'],
      "component log level not correctly specified 'http'; expected component:level",
    ],
    [
      ['--component-log-level', 'a:b:c'],
      "component log level not correctly specified 'a:b:c'; expected component:level",
    ],
    [
      ['--component-log-level', 'http:info,'],
      "component log level not correctly specified ''; expected component:level",
    ],
    [
      ['--local-address-ip-version', 'v5'],
      "unknown IP address version 'v5'; expected one of v4, v6",
    ],
    [['--drain-strategy', 'Gradual'], "unknown drain-strategy 'Gradual'; did you mean 'gradual'?"],
    [['--bootstrap-version', '1'], "unknown bootstrap version '1'; expected one of 2, 3"],
    [['--stats-tag', 'foo'], "misformatted stats-tag 'foo'; expected name:value"],
    [['--stats-tag', 'a_b:c'], "misformatted stats-tag 'a_b:c' contains invalid char in 'a_b'"],
    [['--stats-tag', 'a:b.c'], "misformatted stats-tag 'a:b.c' contains invalid char in 'b.c'"],
    [['--stats-tag', 'a:'], "misformatted stats-tag 'a:' contains invalid char in ''"],
    [
      ['--concurrency', '-1'],
      "invalid concurrency '4294967295'; expected at most 1024 worker threads",
    ],
    [['--socket-path', ''], "invalid socket-path ''; expected a path or @name"],
  ];
  for (const [words, message] of cases) assert.equal(errorOf(...words), message);
});

test('the former name of an option means the same', () => {
  assert.equal(optionsOf().allowUnknownStaticFields, false);
  assert.equal(optionsOf('--allow-unknown-fields').allowUnknownStaticFields, true);
});

test('what only the start decides has no value unless it is given', () => {
  const { concurrency, fileFlushMinSizeKb, socketMode } = optionsOf();
  assert.deepEqual(
    [concurrency, fileFlushMinSizeKb, socketMode],
    [undefined, undefined, undefined],
  );
  assert.equal(optionsOf('--file-flush-min-size-kb', '0').fileFlushMinSizeKb, 0);
  assert.equal(optionsOf('--concurrency', '').concurrency, undefined);
});

test('the permission of sockets counts in octal, and only where they are files', () => {
  const file = ['--socket-path', '/run/proxy'];

  assert.equal(optionsOf(...file).socketPermission, 0o600);
  assert.equal(optionsOf(...file, '--socket-mode', '0660').socketPermission, 0o660);
  assert.equal(optionsOf(...file, '--socket-mode', ' 7').socketPermission, 7);
  assert.equal(optionsOf().socketPermission, 0);
  assert.equal(optionsOf('--mode', 'validate', '--socket-mode', '999').socketPermission, 0);
  for (const mode of ['9x9', '888', '', '-600', '0x1ff', '600 ']) {
    const message = `invalid socket-mode '${mode}'; expected octal digits, such as 600`;
    assert.equal(errorOf(...file, '--socket-mode', mode), message);
  }
});

test('disabled extensions are shown as they were typed, empty names too', () => {
  assert.deepEqual(optionsOf('--disable-extensions', 'a/b,,c').disabledExtensions, [
    'a/b',
    '',
    'c',
  ]);
  assert.deepEqual(optionsOf('--disable-extensions', '').disabledExtensions, []);
});

test('a drain is gradual or immediate', () => {
  assert.equal(optionsOf('--drain-strategy', 'immediate').drainStrategy, 'immediate');
  assert.equal(
    errorOf('--drain-strategy', 'slow'),
    "unknown drain-strategy 'slow'; expected one of gradual, immediate",
  );
});

test('the hot restart version is asked for by an option of its own', () => {
  assert.equal(parseArguments(['--hot-restart-version']).kind, 'hot-restart-version');
});

test('the table has every name and alias once', () => {
  const names = OPTION_LIST.flatMap(({ name, alias }) =>
    alias === undefined ? [name] : [name, alias],
  );

  assert.deepEqual(names, [...new Set(names)]);
});
