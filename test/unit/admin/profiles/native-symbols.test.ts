import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findFunctions } from '../../../../src/admin/profiles/elf-symbols.js';
import { nameAddresses, readMappings } from '../../../../src/admin/profiles/native-symbols.js';
import { folderOf } from '../../support/folder.js';

test('only code that comes from a file is a mapping', () => {
  const text = `7f00-7f10 r--p 00000000 08:01 5 /lib/a.so
7f10-7f20 r-xp 00001000 08:01 5 /lib/a b.so
7f20-7f30 r-xp 00000000 00:00 0 [vdso]
7f30-7f40 rwxp 00000000 00:00 0
`;
  const mapping = { start: 0x7f10, end: 0x7f20, offset: 0x1000, path: '/lib/a b.so' };
  assert.deepEqual(readMappings(text), [mapping]);
});

test('an address of a library of this process gets the name of its function', () => {
  // The C library is stripped but for what it exports: one in many of its addresses has a name.
  const maps = readMappings(readFileSync('/proc/self/maps', 'utf8'));
  const libc = maps.find(({ path }) => /libc[.-]/.test(path));
  assert.ok(libc);
  const addresses = Array.from({ length: 500 }, (_, i) => libc.start + i * 2048);
  const frames = [...nameAddresses(addresses.filter((at) => at < libc.end)).values()];
  const named = frames.filter(({ functionName }) => /^[a-z_]\w+$/i.test(functionName));
  assert.ok(named.length > 20, `${named.length} of ${frames.length}`);
  assert.ok(named.every(({ url }) => url === libc.path));
});

test('what belongs to no file is shown by its address', () => {
  assert.deepEqual(
    [...nameAddresses([16])],
    [[16, { functionName: '0x10', url: '', lineNumber: -1 }]],
  );
});

test('a file that is no program is said to be none', (t) => {
  const path = join(folderOf(t), 'file');
  writeFileSync(path, 'x'.repeat(100));
  assert.throws(() => findFunctions(path, [0]), /no ELF file/);
});
