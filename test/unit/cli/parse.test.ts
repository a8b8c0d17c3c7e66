import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPTION_LIST } from '../../../src/cli/options.js';
import { parseArguments } from '../../../src/cli/parse.js';
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

test('values that mean nothing are refused in the words of the real server', () => {
  const cases: [string[], string][] = [
    [['--mode', 'x'], "unknown mode 'x'"],
    [['-l', 'bogus'], "invalid log level specified 'bogus'"],
    [['-l', 'INFO'], "invalid log level specified 'INFO'"],
    [['--component-log-level', 'http:bogus'], "invalid log level specified 'bogus'"],
    [['--component-log-level', 'bogus:info'], "invalid component specified 'bogus'"],
    [['--component-log-level', 'http'], "component log level not correctly specified 'http'"],
    [['--component-log-level', 'a:b:c'], "component log level not correctly specified 'a:b:c'"],
    [['--component-log-level', 'http:info,'], "component log level not correctly specified ''"],
    [['--local-address-ip-version', 'v5'], "unknown IP address version 'v5'"],
    [['--stats-tag', 'foo'], "misformatted stats-tag 'foo'"],
    [['--stats-tag', 'a_b:c'], "misformatted stats-tag 'a_b:c' contains invalid char in 'a_b'"],
    [['--stats-tag', 'a:b.c'], "misformatted stats-tag 'a:b.c' contains invalid char in 'b.c'"],
    [['--stats-tag', 'a:'], "misformatted stats-tag 'a:' contains invalid char in ''"],
  ];
  for (const [words, message] of cases) assert.equal(errorOf(...words), message);
});

test('an option that is not supported yet is refused by its name', () => {
  assert.equal(errorOf('--enable-mutex-tracing'), '--enable-mutex-tracing is not supported yet');
  assert.equal(optionsOf('--restart-epoch', '0').restartEpoch, 0);
  assert.match(errorOf('--restart-epoch', '1'), /hot restart is not supported yet/);
});

test('a drain is gradual or immediate', () => {
  assert.equal(optionsOf('--drain-strategy', 'immediate').drainStrategy, 'immediate');
  assert.equal(errorOf('--drain-strategy', 'slow'), "unknown drain-strategy 'slow'");
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
