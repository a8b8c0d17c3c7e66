import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { diskFolder, readDiskLayer } from '../../../src/runtime/disk-layer.js';
import { whyNotWatchable } from '../../../src/plan/runtime/runtime-layers.js';
import { DiskWatch } from '../../../src/runtime/disk-watch.js';
import { folderOf } from '../support/folder.js';

function layerOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = folderOf(t);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const textsOf = (folder: string): Record<string, string> =>
  Object.fromEntries([...(readDiskLayer(folder) ?? [])].map(([key, { text }]) => [key, text]));

test('a file is a key, folders are joined by dots, hidden and linked ones too', (t) => {
  const folder = layerOf(t, { a: '22', 'b/c/d': 'x', '.hidden/e': 'h' });
  symlinkSync('b', join(folder, 'link'));
  assert.deepEqual(textsOf(folder), { a: '22', 'b.c.d': 'x', 'link.c.d': 'x', '.hidden.e': 'h' });
});

test('comments, empty lines and blanks at the end are not of the value', (t) => {
  const folder = layerOf(t, {
    a: '# what it is\nval\n#x\nmore\n',
    b: '  lead trail  \n\n',
    c: '\n\na\n\nb\r\n',
    d: ' # kept\n',
    e: '  \n',
    f: 'v #c',
    g: 'val\n# why\n',
    h: '# nothing\n',
  });
  const texts = {
    a: 'val\nmore',
    b: '  lead trail',
    c: 'a\nb',
    d: ' # kept',
    e: '',
    f: 'v #c',
    g: 'val\n',
    h: '',
  };
  assert.deepEqual(textsOf(folder), texts);
});

test('a value is read as YAML; what cannot be read spoils the layer', (t) => {
  const folder = layerOf(t, { a: '1.5', b: '{numerator: 5}', c: 'true' });
  const values = [...(readDiskLayer(folder) ?? [])].map(([, { value }]) => value);
  assert.deepEqual(values.slice(1), [{ numerator: 5 }, true]);
  assert.throws(() => readDiskLayer(layerOf(t, { a: '[' })), /a: yaml-cpp: error at line 1/);
  symlinkSync('/nowhere', join(folder, 'broken'));
  assert.throws(() => readDiskLayer(folder), /ENOENT/);
});

test('a folder that contains itself ends somewhere; one that is not there is no layer', (t) => {
  const folder = layerOf(t, { a: '1' });
  symlinkSync('.', join(folder, 'self'));
  assert.throws(() => readDiskLayer(folder), /depth exceeded 16/);
  assert.equal(readDiskLayer('/nowhere'), undefined);
});

test('the folder is below the link, and may end with the service cluster', () => {
  const layer = {
    symlink_root: '/srv/current',
    subdirectory: 'envoy',
    append_service_cluster: true,
  };
  assert.equal(diskFolder(layer, 'web'), '/srv/current/envoy/web');
  assert.equal(diskFolder({ symlink_root: '/srv/current' }, 'web'), '/srv/current');
  for (const root of ['/nowhere/x', '/nowhere/']) {
    assert.match(whyNotWatchable({ symlink_root: root }) ?? '', /filesystem watch/);
  }
  assert.equal(whyNotWatchable({ symlink_root: '/nowhere' }), undefined);
  assert.equal(whyNotWatchable({}), 'invalid file path ');
});

test('a swap of the link is noticed, other files beside it are not', async (t) => {
  const folder = layerOf(t, { 'v1/a': '1', 'v2/a': '2' });
  const link = join(folder, 'current');
  symlinkSync('v1', link);
  let swaps = 0;
  const swapped = new Promise<void>((resolve) => {
    const watch = new DiskWatch(link, () => {
      swaps++;
      resolve();
    });
    t.after(() => watch.close());
  });
  writeFileSync(join(folder, 'other'), '');
  symlinkSync('v2', join(folder, 'new'));
  renameSync(join(folder, 'new'), link);
  // The watcher itself keeps no process alive.
  const alive = setInterval(() => undefined, 1000);
  await swapped;
  clearInterval(alive);
  assert.equal(swaps, 1);
});
