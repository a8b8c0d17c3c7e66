import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTryingOrder } from '../../../../src/plan/cluster/host-needs.js';
import { compileStatic, issuesOf, socketAddress } from '../helpers.js';

const v4 = (last: number) => ({ ip: Uint8Array.of(192, 0, 2, last) });
const v6 = (last: number) => ({ ip: Uint8Array.of(...Array<number>(15).fill(0), last) });
const lastBytes = (addresses: readonly { ip?: Uint8Array | undefined }[]) =>
  addresses.map(({ ip }) => (ip?.length === 4 ? 'v4 ' : 'v6 ') + String(ip?.at(-1)));

test('families take turns, so many of the first at a time', () => {
  const all = [v6(1), v6(2), v4(1), v4(2), v4(3)];
  assert.deepEqual(lastBytes(inTryingOrder(all, {})), ['v6 1', 'v4 1', 'v6 2', 'v4 2', 'v4 3']);
  assert.deepEqual(
    lastBytes(
      inTryingOrder(all, { first_address_family_version: 'V4', first_address_family_count: 2 }),
    ),
    ['v4 1', 'v4 2', 'v6 1', 'v4 3', 'v6 2'],
  );
});

test('an endpoint with further addresses is tried at all of them; other endpoints at their own', () => {
  const endpoint = (fields: object) => ({
    endpoint: { address: socketAddress(80, '192.0.2.1'), ...fields },
  });
  const compiled = compileStatic({
    clusters: [
      {
        name: 'a',
        upstream_connection_options: {
          happy_eyeballs_config: { first_address_family_version: 'V6' },
        },
        load_assignment: {
          cluster_name: 'a',
          endpoints: [
            {
              lb_endpoints: [
                endpoint({ additional_addresses: [{ address: socketAddress(80, '::1') }] }),
                endpoint({}),
              ],
            },
          ],
        },
      },
    ],
  });
  assert.deepEqual(issuesOf(compiled), []);
  const [both, one] = compiled.update.assignments?.[0]?.hosts ?? [];
  assert.deepEqual(lastBytes(both?.tried_addresses ?? []), ['v6 1', 'v4 1']);
  assert.equal(one?.tried_addresses, undefined);
});
