// Thousands of resources do not hold up the control thread: what else it has to do comes in between.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WireWriter } from '../../../src/base/wire.js';
import type { ControlStats } from '../../../src/stats/control-stats.js';
import { CDS, urlOf } from '../../../src/xds/api.js';
import { decodeResources } from '../../../src/xds/decode-resources.js';
import { decodeDelta } from '../../../src/xds/discovery-wire.js';

const COUNT = 5000;
const LONGEST_MS = 50;

/** A DeltaDiscoveryResponse of so many clusters. */
function responseBytes(): Buffer {
  const out = new WireWriter();
  const tag = (field: number): number => (field << 3) | 2;
  for (let index = 0; index < COUNT; index++) {
    out.message(tag(2), `service-${index}`, (resource, name) => {
      resource.text(tag(1), '1');
      resource.message(tag(2), name, (any) => {
        any.text(tag(1), urlOf(CDS));
        any.message(tag(2), name, (cluster) => {
          cluster.text(tag(1), name);
          cluster.message(tag(4), 5, (duration, seconds) => duration.number(1 << 3, seconds));
        });
      });
      resource.text(tag(3), name);
    });
  }
  out.text(tag(4), urlOf(CDS));
  return Buffer.from(out.finish());
}

test('a response of thousands of clusters is read in slices', async () => {
  const bytes = responseBytes();
  const began = process.cpuUsage();
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const stats: Partial<ControlStats> = { countDeprecated: () => undefined };
  const decoded = await decodeDelta(bytes)
    .then((response) =>
      decodeResources(response, 'name', {
        unknownFields: 'refused',
        stats: stats as ControlStats,
        log: () => undefined,
      }),
    )
    .finally(() => (isOver = true));
  assert.ok('resources' in decoded);
  assert.equal(decoded.resources.length, COUNT);
  assert.equal(decoded.resources.at(-1)?.name, `service-${COUNT - 1}`);
  const { user, system } = process.cpuUsage(began);
  const needed = Math.floor((user + system) / 1000 / LONGEST_MS);
  assert.ok(turns >= needed, `${turns} turns, of ${needed}`);
});
