import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { ControlProfiler } from '../../../src/admin/control-profiler.js';
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

test('the CPU profiler does not start twice, nor without a file that it can write', () => {
  const { asked } = askedWithProfile();
  asked.post('/cpuprofiler?enable=y');
  const again = asked.post('/cpuprofiler?enable=y');
  assert.deepEqual([again.status, again.text], [500, 'failure to start the profiler']);
  asked.post('/cpuprofiler?enable=n');
  const nowhere = new AskedServer({ profilePath: '/nowhere/profile' });
  assert.equal(nowhere.post('/cpuprofiler?enable=y').status, 500);
});

test('ending a profiler that does not run is no error; other words are', () => {
  const { asked } = askedWithProfile();
  assert.equal(asked.post('/cpuprofiler?enable=n').text, 'OK\n');
  const usage = { status: 400, type: 'text', text: '?enable=<y|n>\n' };
  assert.deepEqual(asked.post('/cpuprofiler'), usage);
  assert.deepEqual(asked.post('/cpuprofiler?enable=x'), usage);
});

test('there is no heap profiler that writes a file', () => {
  assert.equal(new AskedServer().post('/heapprofiler?enable=y').status, 501);
});

test('a heap dump is a profile in bytes', () => {
  const dump = gunzipSync(new ControlProfiler('').heapDump()).toString('latin1');
  assert.match(dump, /objects.*space.*bytes/s);
});
