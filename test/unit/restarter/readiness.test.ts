import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { watchReadiness } from '../../../src/restarter/readiness.js';
import { folderOf } from '../support/folder.js';

test('a file that holds no address yet is read again', async (t) => {
  const folder = folderOf(t);
  const path = join(folder, 'address');
  writeFileSync(path, '[half of an addr');
  const server = createServer((_, response) => response.end('{"state":"LIVE"}'));
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const questions = { afterMs: undefined, adminAddress: undefined, adminAddressPath: path };
  await new Promise<void>((resolve) => {
    t.after(watchReadiness(questions, 0, resolve));
    // It has read the half.
    writeFileSync(path, `127.0.0.1:${port}\n`);
  });
});
