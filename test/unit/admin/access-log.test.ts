import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { AdminAccessLog } from '../../../src/admin/access-log.js';
import type { AdminRequest } from '../../../src/admin/http.js';

const REQUEST: AdminRequest = {
  method: 'POST',
  target: '/logging?level=info',
  headers: {
    host: 'localhost:9901',
    origin: '',
    accept: '',
    'sec-fetch-site': '',
    connection: '',
    'content-type': '',
    'user-agent': 'curl/8',
    'x-forwarded-for': '',
    'x-request-id': '',
  },
  body: 'abc',
  wireBytes: 0,
  beganMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
};

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a line has the default format, with what is absent as a dash', (t) => {
  const path = join(folderOf(t), 'admin.log');
  const log = new AdminAccessLog([path]);
  log.add(REQUEST, { status: 400, body: 'no' }, 2, '192.0.2.1');
  log.close();

  const line = readFileSync(path, 'utf8').replace(/400 - 3 2 \d+ /, '400 - 3 2 N ');
  assert.equal(
    line,
    '[2026-01-02T03:04:05.678Z] "POST /logging?level=info HTTP/1.1" 400 - 3 2 N - ' +
      '"192.0.2.1" "curl/8" "-" "localhost:9901" "-"\n',
  );
});

test('a line is there as soon as it has been added', (t) => {
  const path = join(folderOf(t), 'admin.log');
  const log = new AdminAccessLog([path]);
  t.after(() => log.close());
  for (const count of [1, 2, 3]) {
    log.add(REQUEST, { body: '' }, 0, '192.0.2.1');
    assert.equal(readFileSync(path, 'utf8').split('\n').length, count + 1);
  }
});

test('after a rotation new lines are in the new file, and none is lost', (t) => {
  const folder = folderOf(t);
  const [path, old] = [join(folder, 'admin.log'), join(folder, 'old.log')];
  const log = new AdminAccessLog([path]);
  log.add(REQUEST, { body: '' }, 1, '192.0.2.1');
  renameSync(path, old);
  log.reopen();
  log.add(REQUEST, { body: '' }, 2, '192.0.2.1');
  log.close();

  assert.match(readFileSync(old, 'utf8'), / 200 - 3 1 /);
  assert.match(readFileSync(path, 'utf8'), / 200 - 3 2 /);
});
