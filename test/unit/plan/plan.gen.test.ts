import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeUpdate, type Update } from '../../../src/plan/plan.gen.js';

const hex = (update: Update): string => Buffer.from(encodeUpdate(update)).toString('hex');
/** A length as it is written before it is known: a varint of four bytes. */
const length = (bytes: number): string =>
  Buffer.from([(bytes & 0x7f) | 0x80, 0x80, 0x80, 0x00]).toString('hex');

test('nothing is no bytes', () => {
  assert.equal(hex({}), '');
  assert.equal(hex({ clusters: [] }), '');
});

test('fields at their default are left out', () => {
  assert.equal(
    hex({ clusters: [{ name: '', connect_timeout_ms: 0, added_via_api: false }] }),
    `0a${length(0)}`,
  );
});

test('texts, numbers, booleans and enumerators go by their field numbers', () => {
  const name = `0a${length(1)}61`;
  assert.equal(
    hex({ clusters: [{ name: 'a', added_via_api: true, connect_timeout_ms: 300, balancer: 2 }] }),
    `0a${length(6 + 2 + 3 + 2)}${name}1801` + `20ac02` + `3802`,
  );
});

test('numbers beyond 32 bits are whole', () => {
  // 2^53 - 1
  assert.equal(
    hex({ clusters: [{ connect_timeout_ms: Number.MAX_SAFE_INTEGER }] }),
    `0a${length(9)}20ffffffffffffff0f`,
  );
});

test('a negative number takes ten bytes, as proto3 has it', () => {
  const route = { match: { headers: [{ range_start: -5 }] } };
  const header = '20fbffffffffffffffff01';
  const match = `2a${length(11)}${header}`;
  assert.ok(hex({ route_tables: [{ virtual_hosts: [{ routes: [route] }] }] }).endsWith(match));
});

test('an optional number is written even when it is 0', () => {
  const table = (idle: number | undefined): Update => ({
    route_tables: [{ virtual_hosts: [{ routes: [{ cluster: { idle_timeout_ms: idle } }] }] }],
  });
  assert.ok(hex(table(0)).endsWith(`22${length(2)}3000`));
  assert.ok(hex(table(undefined)).endsWith(`22${length(0)}`));
});

test('bytes keep their zeros; texts are UTF-8', () => {
  const address = { ip: Uint8Array.of(127, 0, 0, 1), port: 80 };
  assert.ok(hex({ assignments: [{ hosts: [{ address }] }] }).endsWith('0a047f0000011050'));
  assert.ok(
    hex({ assignments: [{ cluster_name: 'é€😀' }] }).endsWith(`0a${length(9)}c3a9e282acf09f9880`),
  );
});

test('10,000 clusters are written in less than 100 ms', () => {
  const clusters = Array.from({ length: 10_000 }, (_, index) => ({
    name: `cluster-${index}`,
    observability_name: `cluster-${index}`,
    connect_timeout_ms: 5000,
    limits: [{ max_connections: 1024, max_requests: 1024 }, { max_retries: 3 }],
  }));
  const assignments = clusters.map(({ name }) => ({
    cluster_name: name,
    hosts: [{ address: { ip: Uint8Array.of(10, 0, 0, 1), port: 80 }, weight: 1 }],
  }));
  // The best of some: the machine may be busy with something else.
  const elapsedMs = Array.from({ length: 10 }, () => {
    const started = performance.now();
    assert.ok(encodeUpdate({ clusters, assignments }).length > 500_000);
    return performance.now() - started;
  });
  assert.ok(
    Math.min(...elapsedMs) < 100,
    `took ${elapsedMs.map((ms) => ms.toFixed()).join(', ')} ms`,
  );
});
