import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Component } from '../../../../src/logging/components.js';
import { Log } from '../../../../src/logging/logger.js';
import { AskedServer, FakeHost } from '../fake-host.js';

function levelsAfter(target: string, body = ''): Record<string, string> {
  const asked = new AskedServer();
  const { status, text } = asked.post(target, {
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  assert.equal(status, 200, text);
  const level = (name: Component): string => asked.host.log.level(name);
  return { http: level('http'), main: level('main'), upstream: level('upstream') };
}

function refusalOf(target: string): string | undefined {
  const asked = new AskedServer();
  const { status, text } = asked.post(target);
  assert.equal(status, 400, target);
  assert.equal(asked.host.log.level('http'), 'off', 'nothing changed');
  assert.match(
    text,
    /\n\nusage: \/logging\?<name>=<level>.*\nactive loggers:\n {2}a2a: off\n.*\n\n$/s,
  );
  return /^error: (.*)\n\n/.exec(text)?.[1];
}

test('without parameters the loggers are listed, and an empty line ends the list', () => {
  const { status, text } = new AskedServer().post('/logging');

  assert.equal(status, 200);
  assert.match(text, /^active loggers:\n {2}a2a: off\n(.*\n)* {2}ip_tagging: off\n\n$/);
});

test('levels change for all loggers, for one, or for several', () => {
  assert.deepEqual(levelsAfter('/logging?level=debug'), {
    http: 'debug',
    main: 'debug',
    upstream: 'debug',
  });
  assert.deepEqual(levelsAfter('/logging?http=trace'), {
    http: 'trace',
    main: 'off',
    upstream: 'off',
  });
  const several = { http: 'error', main: 'info', upstream: 'off' };
  assert.deepEqual(levelsAfter('/logging?paths=http:error,main:info'), several);
  assert.deepEqual(levelsAfter('/logging?paths=http=error,,main=info'), several);
});

test('parameters may come as a form in the body', () => {
  assert.equal(levelsAfter('/logging', 'level=trace').http, 'trace');
});

test('empty parameters change nothing, as the form on the home page sends them', () => {
  assert.equal(levelsAfter('/logging', 'paths=&group=&level=').http, 'off');
});

test('what cannot be done is not begun', () => {
  assert.equal(refusalOf('/logging?level=warn'), 'unknown logger level');
  assert.equal(refusalOf('/logging?bogus=info'), 'unknown logger name');
  assert.equal(refusalOf('/logging?level=info&http=info'), 'invalid number of parameters');
  assert.equal(refusalOf('/logging?paths=http'), 'empty logger name or empty logger level');
  assert.equal(refusalOf('/logging?paths=http:info,bogus:info'), 'unknown logger name');
  assert.equal(refusalOf('/logging?paths=http:info:debug'), 'unknown logger level');
  assert.equal(
    refusalOf('/logging?group=http:info'),
    'group parameter requires fine-grain logging to be enabled',
  );
});

// The last: there is no way back from fine-grain logging.
test('with fine-grain logging source files are listed, and selected by glob or component', () => {
  class FineGrainHost extends FakeHost {
    override readonly log = new Log({ level: 'off', pattern: '%v', isFineGrain: true });
  }
  const asked = new AskedServer({}, new FineGrainHost());
  const { log } = asked.host;
  const listed = (target: string): readonly string[] => {
    const { status, text } = asked.post(target);
    assert.equal(status, 200, text);
    return text.split('\n').filter((line) => line.includes('src/x/'));
  };
  log.at('src/x/one.ts', 1).trace('http', '');
  log.at('src/x/two.ts', 1).trace('router', '');

  assert.match(asked.post('/logging').text, /^active loggers:\n(?: {2}\S*: off\n)+$/);
  assert.deepEqual(listed('/logging?level=critical'), [
    '  src/x/one.ts: critical',
    '  src/x/two.ts: critical',
  ]);
  assert.deepEqual(listed('/logging?paths=src/x/o*:off,two:error'), [
    '  src/x/one.ts: off',
    '  src/x/two.ts: error',
  ]);
  assert.deepEqual(listed('/logging?src/x/two.ts=off'), [
    '  src/x/one.ts: critical',
    '  src/x/two.ts: off',
  ]);
  assert.deepEqual(listed('/logging?group=http:error'), [
    '  src/x/one.ts: error',
    '  src/x/two.ts: critical',
  ]);
  assert.deepEqual(listed('/logging?paths=none/such:off'), [
    '  src/x/one.ts: critical',
    '  src/x/two.ts: critical',
  ]);
  assert.match(
    asked.post('/logging?group=http').text,
    /^error: empty logger name or empty logger level in group\n/,
  );
});
