import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { WorkerWaits } from '../../../../src/admin/http/worker-waits.js';

/** The folder of a process's threads, as the kernel shows it. */
class Threads {
  readonly folder: string;

  constructor(t: TestContext) {
    this.folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
    t.after(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** What the scheduler says: it ran for a second, and waited for so long, in nanoseconds. */
  show(id: number, name: string, waitedNs: number): void {
    const folder = join(this.folder, String(id));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'comm'), `${name}\n`);
    writeFileSync(join(folder, 'schedstat'), `1000000000 ${waitedNs} 4711\n`);
  }
}

test('workers that had to wait for a processor are held to wait for a while', (t) => {
  const threads = new Threads(t);
  threads.show(10, 'node', 0);
  threads.show(11, 'wrk:worker_0', 0);
  threads.show(12, 'wrk:worker_1', 5_000_000);
  const waits = new WorkerWaits(threads.folder);
  waits.areWaiting(10_000);
  // What it had waited before is no reason to rest, once that is known.
  assert.equal(waits.areWaiting(13_000), false);

  threads.show(12, 'wrk:worker_1', 6_000_000);

  assert.equal(waits.areWaiting(13_005), false, 'it does not look that often');
  assert.equal(waits.areWaiting(13_010), true);
  assert.equal(waits.areWaiting(15_000), true);
  assert.equal(waits.areWaiting(15_011), false);
});

test('the little that any wake-up costs is not waiting, nor is what other threads wait', (t) => {
  const threads = new Threads(t);
  threads.show(10, 'node', 0);
  threads.show(11, 'wrk:worker_0', 0);
  const waits = new WorkerWaits(threads.folder);
  waits.areWaiting(10_000);

  threads.show(10, 'node', 900_000_000);
  threads.show(11, 'wrk:worker_0', 1_000_000);

  assert.equal(waits.areWaiting(10_200), false);
});

test('where the kernel tells nothing, nobody waits', () => {
  assert.equal(new WorkerWaits('/nowhere').areWaiting(10_000), false);
});
