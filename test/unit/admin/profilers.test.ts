import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Profilers } from '../../../src/admin/profilers.js';
import { FakeNative } from '../support/fake-native.js';
import { AskedServer } from './fake-host.js';

function askedWithProfile(): { asked: AskedServer; path: string } {
  const path = join(mkdtempSync(join(tmpdir(), 'fairlead-profile-')), 'profile');
  return { asked: new AskedServer({ profilePath: path }), path };
}

function busyWork(): number {
  const end = performance.now() + 60;
  let sum = 0;
  while (performance.now() < end) sum += Math.sqrt(sum + 1);
  return sum;
}

test('a CPU profile of the control thread names what ran', () => {
  const { asked, path } = askedWithProfile();
  assert.equal(asked.post('/cpuprofiler?enable=y').text, 'OK\n');
  busyWork();
  assert.equal(asked.post('/cpuprofiler?enable=n').text, 'OK\n');
  const profile = gunzipSync(readFileSync(path)).toString('latin1');
  assert.match(profile, /busyWork/);
  assert.match(profile, /nanoseconds/);
});

test('starting the CPU profiler again changes nothing; a file that cannot be written is refused', () => {
  const { asked } = askedWithProfile();
  asked.post('/cpuprofiler?enable=y');
  assert.equal(asked.post('/cpuprofiler?enable=y').text, 'OK\n');
  assert.deepEqual(asked.host.native.calls, ['startCpuProfile']);
  asked.post('/cpuprofiler?enable=n');
  const nowhere = new AskedServer({ profilePath: '/nowhere/profile' });
  const refused = nowhere.post('/cpuprofiler?enable=y');
  assert.deepEqual([refused.status, refused.text], [500, 'failure to start the profiler']);
});

test('ending a CPU profiler that does not run is no error; other words are', () => {
  const { asked } = askedWithProfile();
  assert.equal(asked.post('/cpuprofiler?enable=n').text, 'OK\n');
  const usage = { status: 400, type: 'text', text: '?enable=<y|n>\n' };
  for (const path of ['/cpuprofiler', '/cpuprofiler?enable=x', '/heapprofiler?enable=Y']) {
    assert.deepEqual(asked.post(path), usage);
  }
});

test('samples of workers are added up by thread and stack, with addresses that have no name', () => {
  const { asked, path } = askedWithProfile();
  asked.post('/cpuprofiler?enable=y');
  asked.host.native.cpuSamples = [0, 2, 16, 32, 1, 1, 16, 0, 2, 16, 32];
  asked.post('/cpuprofiler?enable=n');
  const profile = gunzipSync(readFileSync(path)).toString('latin1');
  for (const text of ['0x10', '0x20', 'worker_0', 'worker_1', 'thread']) {
    assert.ok(profile.includes(text), text);
  }
});

test('the heap profiler starts once, ends once, and writes what was allocated in between', () => {
  const { asked, path } = askedWithProfile();
  const text = (enable: string): string => asked.post(`/heapprofiler?enable=${enable}`).text;
  assert.equal(text('n'), 'Fail to stop heap profiler: not started');
  assert.equal(text('y'), 'Starting heap profiler');
  assert.equal(text('y'), 'Fail to start heap profiler: already started');
  const kept = Array.from({ length: 200_000 }, (_, index) => ({ index }));
  assert.equal(text('n'), `Heap profiler stopped and data written to ${path}`);
  assert.equal(kept.length, 200_000);
  assert.match(gunzipSync(readFileSync(path)).toString('latin1'), /objects.*space.*bytes/s);
});

test('a heap dump is a profile in bytes', () => {
  const page = new Profilers(new FakeNative(), '').heapDump();
  assert.match(gunzipSync(page).toString('latin1'), /objects.*space.*bytes/s);
});
