import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBug } from '../../../../src/base/bugs.js';
import { Slot } from '../../../../src/admin/uws/slot.js';
import type { UwsApp, UwsRequest, UwsResponse } from '../../../../src/admin/uws/uws.js';
import type { AdminService } from '../../../../src/admin/http/http.js';

test('what came behind the end of its connection is not answered, and is no bug', (t) => {
  const bugs: string[] = [];
  t.after(onBug((where) => bugs.push(where)));
  let serve: Parameters<UwsApp['any']>[1] | undefined;
  const app: UwsApp = {
    any: (_, handler) => {
      serve = handler;
      return app;
    },
    ws: () => app,
    filter: () => app,
    adoptSocket: () => app,
    close: () => app,
  };
  const sockets = { receivedBytes: () => 0, duplicateDescriptor: () => -1 };
  new Slot({ App: () => app }, {} as AdminService, sockets, () => undefined);
  let closes = 0;
  const response = { onAborted: () => undefined, close: () => (closes += 1) };
  serve?.(response as unknown as UwsResponse, {} as UwsRequest);

  assert.equal(closes, 1);
  assert.deepEqual(bugs, []);
});
