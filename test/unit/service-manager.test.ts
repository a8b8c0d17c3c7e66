import assert from 'node:assert/strict';
import { openSync, closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findServiceManager } from '../../src/service-manager.js';
import { folderOf } from './support/folder.js';

test('without its variables nobody manages the process', () => {
  assert.equal(findServiceManager({}), undefined);
  assert.equal(findServiceManager({ NOTIFY_SOCKET: '' }), undefined);
});

test('a descriptor that is no socket belongs to somebody else, and nothing is written to it', (t) => {
  const folder = folderOf(t);
  const fd = openSync(join(folder, 'file'), 'w');

  assert.equal(findServiceManager({ FAIRLEAD_NOTIFY_FD: String(fd) }), undefined);
  closeSync(fd);
  assert.equal(findServiceManager({ FAIRLEAD_NOTIFY_FD: String(fd) }), undefined);
  assert.equal(findServiceManager({ FAIRLEAD_NOTIFY_FD: 'three' }), undefined);
  assert.equal(readFileSync(join(folder, 'file'), 'utf8'), '');
});

test('a manager that does not listen is no trouble', () => {
  findServiceManager({ NOTIFY_SOCKET: '/nonexistent/notify' })?.('READY=1');
  findServiceManager({ NOTIFY_SOCKET: '@fairlead-nobody-listens' })?.('READY=1');
  findServiceManager({ NOTIFY_SOCKET: 'relative' })?.('READY=1');
});
