import assert from 'node:assert/strict';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { CgroupFiles } from '../../../src/overload/cgroup-files.js';
import { containerCpu, hostCpu } from '../../../src/overload/cpu.js';
import { pressureOf } from '../../../src/overload/pressure.js';
import { FileWatch } from '../../../src/xds/file-watch.js';
import { folderOf } from '../support/folder.js';

function machine(t: TestContext) {
  const root = folderOf(t);
  return {
    root,
    number: (_key: string, fallback: number) => fallback,
    residentBytes: () => 0,
    watch: (path: string, onChange: () => void) =>
      new FileWatch({ path, watchesWrites: false }, onChange),
    put(path: string, text: string): void {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
  };
}

test('an injected pressure is a number of 0 to 1', (t) => {
  const host = machine(t);
  const said = (text: string): (() => number) => {
    host.put('pressure', text);
    const read = pressureOf({ kind: 'injected', file: join(host.root, 'pressure') }, host);
    t.after(() => read?.close?.());
    return () => read?.() ?? Number.NaN;
  };

  assert.equal(said('0.25\n')(), 0.25);
  assert.equal(said('+5.e-1')(), 0.5);
  assert.equal(said('\t.25 \n')(), 0.25);
  assert.equal(said('0x0.8')(), 0.5);
  assert.equal(said('0x1p-2')(), 0.25);
  for (const text of ['', 'much', '0b1', '0.5 0.6', '\u00a00.5', '0x', '0x.', '1e', 'nan'])
    assert.throws(said(text), /failed to parse injected resource pressure/);
  assert.throws(said('1.5'), /pressure out of range/);
});

test(
  'an injected pressure is read again once another file has taken its place',
  { timeout: 10_000 },
  async (t) => {
    const host = machine(t);
    const file = join(host.root, 'pressure');
    host.put('pressure', '0.25');
    const read = pressureOf({ kind: 'injected', file }, host);
    t.after(() => read?.close?.());
    assert.equal(read?.(), 0.25);

    host.put('pressure', '0.5');
    assert.equal(read?.(), 0.25);
    renameSync(file, `${file}.away`);
    assert.equal(read?.(), 0.25);
    host.put('next', '0.75');
    renameSync(join(host.root, 'next'), file);
    while (read?.() !== 0.75) await setTimeout(1);
  },
);

test('memory of a cgroup of version 2 is held against its limit or a lower one', (t) => {
  const host = machine(t);
  host.put('sys/fs/cgroup/memory.current', '500\n');
  host.put('sys/fs/cgroup/memory.max', '2000\n');

  assert.equal(pressureOf({ kind: 'cgroup-memory', maxBytes: undefined }, host)?.(), 0.25);
  assert.equal(pressureOf({ kind: 'cgroup-memory', maxBytes: 1000 }, host)?.(), 0.5);
  host.put('sys/fs/cgroup/memory.max', 'max\n');
  assert.equal(pressureOf({ kind: 'cgroup-memory', maxBytes: undefined }, host)?.(), 0);
});

test('memory of a cgroup of version 1, without a limit', (t) => {
  const host = machine(t);
  host.put('sys/fs/cgroup/memory/memory.usage_in_bytes', '500\n');
  host.put('sys/fs/cgroup/memory/memory.limit_in_bytes', '9223372036854771712\n');

  assert.equal(pressureOf({ kind: 'cgroup-memory', maxBytes: undefined }, host)?.(), 0);
  assert.equal(pressureOf({ kind: 'cgroup-memory', maxBytes: 1000 }, host)?.(), 0.5);
});

test('a machine without cgroups is told of at the start', (t) => {
  const host = machine(t);
  assert.throws(
    () => pressureOf({ kind: 'cgroup-memory', maxBytes: undefined }, host),
    /No supported cgroup memory implementation found/,
  );
  assert.throws(
    () => pressureOf({ kind: 'cpu', of: 'container' }, host),
    /No supported cgroup CPU/,
  );
});

test('how busy the machine is shows slowly', (t) => {
  const host = machine(t);
  host.put('proc/stat', 'cpu  100 0 100 800 5 6 7\ncpu0 1 2 3 4\n');
  const read = hostCpu(host.root);
  host.put('proc/stat', 'cpu  150 10 140 1000 5 6 7\n');

  // 100 of 300.
  assert.ok(Math.abs(read() - 0.05 / 3) < 1e-9);
  assert.ok(Math.abs(read() - 0.05 / 3) < 1e-9);
});

test('a container is held against the processors that it may use', (t) => {
  const host = machine(t);
  host.put('sys/fs/cgroup/cpu.stat', 'usage_usec 1000000\nuser_usec 1\n');
  host.put('sys/fs/cgroup/cpu.max', '200000 100000\n');
  let now = 0;
  const read = containerCpu(new CgroupFiles(host.root), () => now);
  now = 1000;
  host.put('sys/fs/cgroup/cpu.stat', 'usage_usec 2000000\nuser_usec 1\n');

  // One second of the two that two processors have.
  assert.ok(Math.abs(read() - 0.025) < 1e-9);
});

test('a container whose shares are no limit may be over them', (t) => {
  const after = (files: readonly (readonly [string, string])[]): number => {
    const host = machine(t);
    for (const [path, text] of files) host.put(`sys/fs/cgroup/${path}`, text);
    let now = 0;
    const read = containerCpu(new CgroupFiles(host.root), () => now);
    now = 1000;
    host.put('sys/fs/cgroup/cpu.stat', 'usage_usec 2000000\n');
    host.put('sys/fs/cgroup/cpuacct/cpuacct.usage', '2000000000\n');
    return read();
  };
  const shares = [
    ['cpu/cpu.shares', '1024\n'],
    ['cpuacct/cpuacct.usage', '0\n'],
  ] as const;
  const quota = [
    ['cpu.stat', 'usage_usec 0\n'],
    ['cpu.max', '100000 100000\n'],
  ] as const;
  assert.ok(Math.abs(after(shares) - 0.1) < 1e-9);
  assert.ok(Math.abs(after(quota) - 0.05) < 1e-9);
});
