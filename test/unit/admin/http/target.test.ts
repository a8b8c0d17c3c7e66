// Each path of these tables was asked of the real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTarget } from '../../../../src/admin/http/target.js';
import { AskedServer } from '../fake-host.js';

const pathOf = (target: string): string => parseTarget(target).path;

test('a path without anything odd stays as it is, and the query stays in any case', () => {
  assert.deepEqual(parseTarget('/stats/prometheus'), { path: '/stats/prometheus', query: '' });
  assert.deepEqual(parseTarget('/stats?a=/../b?c'), { path: '/stats', query: 'a=/../b?c' });
  assert.deepEqual(parseTarget('/./ready?'), { path: '/ready', query: '' });
});

test('dot segments go, in whichever of its spellings a dot was sent', () => {
  const ready = ['/./ready', '/a/../ready', '/../../ready', '/a/./../ready', '/a/..//ready'];
  for (const path of [...ready, '/x/%2e%2e/ready', '/x/.%2E/ready', '/%2e/ready', '/r%65ady']) {
    assert.equal(pathOf(path), '/ready', path);
  }
  assert.deepEqual(['/.', '/..', '/a/..', '/ready/..', '/ready/.', '/ready/x/..'].map(pathOf), [
    ...['/', '/', '/', '/', '/ready/', '/ready/'],
  ]);
  assert.deepEqual(['/...', '/.ready', '/..ready'].map(pathOf), ['/...', '/.ready', '/..ready']);
});

test('a backslash is a slash: what follows it is never taken for a host', () => {
  for (const path of ['/\\ready', '//\\ready', '/\\\\ready', '/a\\..\\ready', '/a/..\\ready']) {
    assert.equal(pathOf(path), '/ready', path);
  }
  assert.equal(pathOf('/\\x//ready'), '/x/ready');
  assert.equal(pathOf('/\\a//server_info'), '/a/server_info');
  assert.equal(pathOf('//\\'), '//');
  assert.equal(pathOf('/\\[/./'), '/[/');
});

test('dots with parameters are dots, unless percent codes or backslashes make them', () => {
  const ready = ['/..;/ready', '/a/..;/ready', '/.;/ready', '/..;a;b/ready', '//..;//ready'];
  for (const path of [...ready, '/a/..;x/../ready', '/...;/../ready', '/a/.;/..;/ready']) {
    assert.equal(pathOf(path), '/ready', path);
  }
  for (const path of ['/a/..;ready', '/a/..;', '/a/..;x\\ready']) assert.equal(pathOf(path), '/');
  assert.equal(pathOf('/%2e%2e;/ready'), '/..;/ready');
  assert.equal(pathOf('/a\\..;x/ready'), '/a/..;x/ready');
  assert.equal(pathOf('/ready;x'), '/ready;x');
});

test('slashes in a row are one, after dots have gone; a path of nothing else keeps two', () => {
  assert.deepEqual(['//ready', '/stats//prometheus', '//', '///'].map(pathOf), [
    ...['/ready', '/stats/prometheus', '//', '//'],
  ]);
  assert.equal(pathOf('/x//../ready'), '/x/ready');
});

test('percent codes of what has a meaning in paths stay, and so does what is no code', () => {
  const kept = ['/%5cready', '/%2fready', '/a/..%2fready', '/ready%', '/ready%zz', '/re%0aady'];
  for (const path of kept) assert.equal(pathOf(path), path);
  assert.equal(pathOf('/"<>`{}^|'), '/%22%3C%3E%60%7B%7D%5E%7C');
});

test('a path of 60 KiB takes no longer than its length asks for', () => {
  for (const part of ['/', '/.', '/..', '/..;', '\\', '%2e/', '/a/..', ';', '/.;/']) {
    const path = `/${part.repeat(61_440 / part.length)}`;
    // Of this process, whatever else the machine does.
    const before = process.cpuUsage();
    parseTarget(path);
    assert.ok(process.cpuUsage(before).user < 1_000_000, part);
  }
});

test('targets that no URL can have are answered, and pass no filter of paths', () => {
  const asked = new AskedServer();
  for (const target of ['/\\[/./', '//\\', '/\\x//ready', '/\\a//server_info', '/\\[::1/../x']) {
    assert.equal(asked.get(target).status, 404, target);
  }
});
