import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { AdminAccessLog } from '../../../src/admin/access-log.js';
import type { AdminRequest, SentBytes } from '../../../src/admin/http.js';

const REQUEST: AdminRequest = {
  method: 'POST',
  target: '/logging?level=info',
  headers: {
    host: 'localhost:9901',
    origin: '',
    accept: '',
    'sec-fetch-site': '',
    'content-type': '',
    'user-agent': 'curl/8',
    'x-forwarded-for': '',
    'x-request-id': '',
  },
  body: 'abc',
  namesHost: true,
  asksToClose: false,
  beganMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
};

const sent = (ofBody: number): SentBytes => ({ ofBody, onWire: 0, isCut: false });

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a line has the default format, with what is absent as a dash', (t) => {
  const path = join(folderOf(t), 'admin.log');
  const log = new AdminAccessLog([path]);
  log.add(REQUEST, { status: 400, body: 'no' }, sent(2), '192.0.2.1');
  log.close();

  const line = readFileSync(path, 'utf8').replace(/400 - 3 2 \d+ /, '400 - 3 2 N ');
  assert.equal(
    line,
    '[2026-01-02T03:04:05.678Z] "POST /logging?level=info HTTP/1.1" 400 - 3 2 N - ' +
      '"192.0.2.1" "curl/8" "-" "localhost:9901" "-"\n',
  );
});

test('what came of a request that got no answer is told by its flags', (t) => {
  const path = join(folderOf(t), 'admin.log');
  const log = new AdminAccessLog([path]);
  const headers = { ...REQUEST.headers, host: '', 'user-agent': '' };
  const none = { ...REQUEST, method: '', target: '', headers, body: '' };
  log.add(none, { status: 0, body: '' }, { ...sent(0), isCut: true }, '192.0.2.1');
  log.add(none, { status: 426, body: '', fault: 'protocol' }, sent(16), '192.0.2.1');
  log.add(REQUEST, { status: 400, body: '', fault: 'path' }, sent(0), '192.0.2.1');
  log.close();

  const lines = readFileSync(path, 'utf8')
    .replace(/^\[.*?\] /gm, '')
    .replace(/ \d+ - "/g, ' N - "');
  assert.deepEqual(lines.split('\n'), [
    '"- - HTTP/1.1" 0 DC 0 0 N - "-" "-" "-" "-" "-"',
    '"- - HTTP/1.1" 426 DPE 0 16 N - "-" "-" "-" "-" "-"',
    '"POST /logging?level=info HTTP/1.1" 400 - 3 0 N - "-" "curl/8" "-" "localhost:9901" "-"',
    '',
  ]);
});

test('a line is there as soon as it has been added', (t) => {
  const path = join(folderOf(t), 'admin.log');
  const log = new AdminAccessLog([path]);
  t.after(() => log.close());
  for (const count of [1, 2, 3]) {
    log.add(REQUEST, { body: '' }, sent(0), '192.0.2.1');
    assert.equal(readFileSync(path, 'utf8').split('\n').length, count + 1);
  }
});

test('after a rotation new lines are in the new file, and none is lost', (t) => {
  const folder = folderOf(t);
  const [path, old] = [join(folder, 'admin.log'), join(folder, 'old.log')];
  const log = new AdminAccessLog([path]);
  log.add(REQUEST, { body: '' }, sent(1), '192.0.2.1');
  renameSync(path, old);
  log.reopen();
  log.add(REQUEST, { body: '' }, sent(2), '192.0.2.1');
  log.close();

  assert.match(readFileSync(old, 'utf8'), / 200 - 3 1 /);
  assert.match(readFileSync(path, 'utf8'), / 200 - 3 2 /);
});
