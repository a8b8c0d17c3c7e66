import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Profilers } from '../../../../src/admin/profiles/profilers.js';
import { FakeNative } from '../../support/fake-native.js';
import { folderOf } from '../../support/folder.js';
import { AskedServer } from '../fake-host.js';

function askedWithProfile(t: TestContext): { asked: AskedServer; path: string } {
  const path = join(folderOf(t), 'profile');
  return { asked: new AskedServer({ profilePath: path }), path };
}

function busyWork(): number {
  const end = performance.now() + 60;
  let sum = 0;
  while (performance.now() < end) sum += Math.sqrt(sum + 1);
  return sum;
}

test('a CPU profile of the control thread names what ran', (t) => {
  const { asked, path } = askedWithProfile(t);
  assert.equal(asked.post('/cpuprofiler?enable=y').text, 'OK\n');
  busyWork();
  assert.equal(asked.post('/cpuprofiler?enable=n').text, 'OK\n');
  const profile = gunzipSync(readFileSync(path)).toString('latin1');
  assert.match(profile, /busyWork/);
  assert.match(profile, /nanoseconds/);
});

test('starting the CPU profiler again changes nothing', (t) => {
  const { asked } = askedWithProfile(t);
  asked.post('/cpuprofiler?enable=y');
  assert.equal(asked.post('/cpuprofiler?enable=y').text, 'OK\n');
  assert.deepEqual(asked.host.native.calls, ['startCpuProfile']);
  asked.post('/cpuprofiler?enable=n');
});

test('a file that cannot be written is refused with the reason, and nothing starts or ends', (t) => {
  const nowhere = new AskedServer({ profilePath: '/nowhere/profile' });
  const why = "ENOENT: no such file or directory, open '/nowhere/profile'";
  for (const [path, text] of [
    ['/cpuprofiler?enable=y', `failure to start the profiler: ${why}`],
    ['/heapprofiler?enable=y', `Fail to start heap profiler: ${why}`],
  ] as const) {
    assert.deepEqual(nowhere.post(path), { status: 500, type: 'text', text });
  }
  assert.deepEqual(nowhere.host.native.calls, []);
  assert.equal(nowhere.post('/heapprofiler?enable=n').status, 400);

  const { asked, path } = askedWithProfile(t);
  asked.post('/cpuprofiler?enable=y');
  asked.post('/heapprofiler?enable=y');
  renameSync(dirname(path), `${dirname(path)}-moved`);
  for (const profiler of ['cpuprofiler', 'heapprofiler']) {
    assert.equal(asked.post(`/${profiler}?enable=n`).status, 500);
  }
  renameSync(`${dirname(path)}-moved`, dirname(path));
  for (const profiler of ['heapprofiler', 'cpuprofiler']) {
    assert.equal(asked.post(`/${profiler}?enable=n`).status, 200);
    assert.match(gunzipSync(readFileSync(path)).toString('latin1'), /bytes|nanoseconds/);
  }
});

test('what was in the file stays until there is a profile to write', (t) => {
  const { asked, path } = askedWithProfile(t);
  writeFileSync(path, 'the last one');
  asked.post('/cpuprofiler?enable=y');
  assert.equal(readFileSync(path, 'utf8'), 'the last one');
  asked.post('/cpuprofiler?enable=n');
  assert.notEqual(readFileSync(path, 'latin1'), 'the last one');
});

test('ending a CPU profiler that does not run is no error; other words are', (t) => {
  const { asked } = askedWithProfile(t);
  assert.equal(asked.post('/cpuprofiler?enable=n').text, 'OK\n');
  const usage = { status: 400, type: 'text', text: '?enable=<y|n>\n' };
  const paths = ['/cpuprofiler', '/cpuprofiler?enable=x', '/heapprofiler?enable=Y'];
  for (const path of [...paths, '/allocprofiler?enable=n&x=1']) {
    assert.deepEqual(asked.post(path), usage);
  }
});

test('samples of workers are added up by thread and stack, with addresses that have no name', (t) => {
  const { asked, path } = askedWithProfile(t);
  asked.post('/cpuprofiler?enable=y');
  asked.host.native.cpuSamples = [0, 2, 16, 32, 1, 1, 16, 0, 2, 16, 32];
  asked.post('/cpuprofiler?enable=n');
  const profile = gunzipSync(readFileSync(path)).toString('latin1');
  for (const text of ['0x10', '0x20', 'worker_0', 'worker_1', 'thread']) {
    assert.ok(profile.includes(text), text);
  }
});

test('the heap profiler starts once, ends once, and writes what was allocated in between', (t) => {
  const { asked, path } = askedWithProfile(t);
  const text = (enable: string): string => asked.post(`/heapprofiler?enable=${enable}`).text;
  assert.equal(text('n'), 'Fail to stop heap profiler: not started');
  assert.equal(text('y'), 'Starting heap profiler');
  assert.equal(text('y'), 'Fail to start heap profiler: already started');
  const kept = Array.from({ length: 200_000 }, (_, index) => ({ index }));
  assert.equal(text('n'), `Heap profiler stopped and data written to ${path}`);
  assert.equal(kept.length, 200_000);
  assert.match(gunzipSync(readFileSync(path)).toString('latin1'), /objects.*space.*bytes/s);
});

test('already the first heap dump tells of all that the heap holds', () => {
  const page = new Profilers(new FakeNative(), '').heapDump();
  const profile = gunzipSync(page).toString('latin1');
  assert.match(profile, /objects.*space.*bytes/s);
  assert.match(profile, /allocated by JavaScript before.*allocated by native code/s);
});

test('the heap has one profiler at a time; a dump gives way, and finds its bytes again', (t) => {
  const { asked } = askedWithProfile(t);
  const dump = (): string => gunzipSync(asked.getBytes('/heap_dump')).toString('latin1');
  dump();
  assert.equal(asked.post('/heapprofiler?enable=y').status, 200);
  assert.equal(
    asked.post('/allocprofiler?enable=y').text,
    'Allocation profiler cannot start: the heap profiler runs',
  );
  assert.equal(asked.post('/heapprofiler?enable=n').status, 200);
  assert.equal(asked.post('/allocprofiler?enable=y').status, 200);
  assert.equal(
    asked.post('/heapprofiler?enable=y').text,
    'Fail to start heap profiler: the allocation profiler runs',
  );
  assert.match(dump(), /allocated by JavaScript before/);
  const makeMany = (): unknown[] => Array.from({ length: 400_000 }, (_, index) => ({ index }));
  const kept = makeMany();
  const allocated = gunzipSync(asked.getBytes('/allocprofiler?enable=n', 'POST'));
  assert.equal(kept.length, 400_000);
  assert.match(allocated.toString('latin1'), /makeMany/);
  assert.match(dump(), /allocated by JavaScript before/);
});

test('the allocation profiler starts once, and answers with what was allocated in between', (t) => {
  const { asked } = askedWithProfile(t);
  const ask = (enable: string): { status: number; text: string } =>
    asked.post(`/allocprofiler?enable=${enable}`);
  assert.equal(ask('n').text, 'Allocation profiler is not started');
  assert.equal(ask('y').text, 'OK\n');
  assert.equal(ask('y').text, 'Allocation profiler has already started');
  busyWork();
  const { status } = ask('n');
  assert.equal(status, 200);
  assert.equal(ask('n').status, 400);
  assert.equal(asked.post('/allocprofiler').text, '?enable=<y|n>\n');
});
