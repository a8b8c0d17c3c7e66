import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadAddon } from '../../../src/native.js';

// V8 keeps what it makes of a definition of a class for as long as the process lives.
test('all pages are of one class, so that a page leaves nothing behind', () => {
  const proxy = loadAddon().create({
    concurrency: 1,
    fileFlushIntervalMs: 1000,
    tracesLocks: false,
    stats: new Uint8Array(),
  });
  const all = {
    usedOnly: false,
    invertFilter: false,
    textReadouts: false,
    hidden: 'exclude',
  } as const;
  const pages = [
    proxy.openStats({ ...all, type: 'All', format: 'text' }),
    proxy.openStats({ ...all, type: 'All', format: 'json' }),
    proxy.openClusters('text', undefined, []),
  ];
  assert.equal(new Set(pages.map((page) => page.constructor)).size, 1);
});
