// What refuses resources before anybody looks at them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControlStats } from '../../../src/stats/control-stats.js';
import { CDS, urlOf } from '../../../src/xds/api.js';
import { decodeResources } from '../../../src/xds/decode-resources.js';
import type { RawResource } from '../../../src/xds/discovery-wire.js';

test('a time to live below nothing refuses all of a response, be it that of a heartbeat', async () => {
  const stats: Partial<ControlStats> = { countDeprecated: () => undefined };
  const host = {
    unknownFields: 'refused' as const,
    stats: stats as ControlStats,
    log: () => undefined,
  };
  const url = urlOf(CDS);
  const raw = (ttlMs: number, isHeartbeat: boolean): RawResource => ({
    ...{ name: 'a', version: '', bytes: Buffer.alloc(0), isHeartbeat, ttlMs },
    url: isHeartbeat ? '' : url,
  });
  const rest = { version: '1', url, nonce: 'n', removed: [], identifier: '' };
  for (const isHeartbeat of [false, true]) {
    const decoded = await decodeResources(
      { ...rest, resources: [raw(-1, isHeartbeat)] },
      'name',
      host,
    );
    assert.match('why' in decoded ? decoded.why : '', /^a: ttl: .* expected at least 0s/);
  }
  const good = await decodeResources({ ...rest, resources: [raw(0, true)] }, 'name', host);
  assert.deepEqual(good, { resources: [] });
});
