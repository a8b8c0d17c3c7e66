// Fields that nobody knows, of resources that come over streams.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WireWriter } from '../../../src/base/wire.js';
import type { ControlStats } from '../../../src/stats/control-stats.js';
import { CDS, urlOf } from '../../../src/xds/api.js';
import { decodeResources } from '../../../src/xds/decode-resources.js';
import type { RawResource } from '../../../src/xds/discovery-wire.js';

const tag = (field: number): number => (field << 3) | 2;

/** A cluster with a field that nobody knows; `seconds`: its connect_timeout. */
function raw(name: string, field: number, seconds = 5, url = urlOf(CDS)): RawResource {
  const out = new WireWriter();
  out.text(tag(1), name);
  out.message(tag(4), seconds, (duration, value) => duration.number(1 << 3, value));
  out.number(field << 3, 1);
  return { name, version: '1', url, bytes: Buffer.from(out.finish()), isHeartbeat: false };
}

function start() {
  const kinds = new Set<string>();
  const lines: string[] = [];
  const stats: Partial<ControlStats> = {
    countDeprecated: () => undefined,
    countUnknown: (kind) => !kinds.has(kind) && kinds.add(kind).has(kind),
  };
  const host = {
    unknownFields: 'told' as const,
    stats: stats as ControlStats,
    log: (_: string, line: string) => void lines.push(line),
  };
  const rest = { version: '1', url: urlOf(CDS), nonce: 'n', removed: [], identifier: '' };
  const take = async (resources: readonly RawResource[], isDelta = false): Promise<number> => {
    const before = kinds.size;
    await decodeResources({ ...rest, resources }, 'name', host, isDelta);
    return kinds.size - before;
  };
  return { take, lines };
}

test('fields that nobody knows are told of once, whatever has them', async () => {
  const { take, lines } = start();
  assert.equal(await take([raw('a', 901), raw('b', 901)]), 1);
  assert.equal(await take([raw('a', 901)]), 0);
  assert.equal(await take([raw('a', 902)]), 1);
  assert.equal(lines.length, 2);
  assert.match(
    lines[0] ?? '',
    /^a: \["901"\]: unknown field of envoy\.config\.cluster\.v3\.Cluster/,
  );
});

test('those of what is refused are told of, and none of what comes behind it', async () => {
  const { take } = start();
  const other = raw('other', 906, 5, 'type.googleapis.com/another.Type');
  assert.equal(await take([raw('wrong', 901, 0)]), 1);
  assert.equal(await take([raw('wrong', 902, 0), raw('a', 903)]), 1);
  assert.equal(await take([raw('a', 904), other]), 1);
  // Types of incremental updates are looked at first.
  assert.equal(await take([raw('a', 905), other], true), 0);
});
