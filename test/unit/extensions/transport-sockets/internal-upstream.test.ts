import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compile, issuesOf } from '../../plan/helpers.js';

const SOCKETS = 'envoy.extensions.transport_sockets';
const RAW = {
  name: 'envoy.transport_sockets.raw_buffer',
  typed_config: any(`${SOCKETS}.raw_buffer.v3.RawBuffer`),
};
const internal = (fields: object) => ({
  name: 'envoy.transport_sockets.internal_upstream',
  typed_config: any(`${SOCKETS}.internal_upstream.v3.InternalUpstreamTransport`, {
    transport_socket: RAW,
    ...fields,
  }),
});

function compileCluster(transport_socket: object) {
  const compiled = compile({
    static_resources: {
      clusters: [
        {
          name: 'a',
          metadata: { filter_metadata: { mine: { c: 1 } } },
          transport_socket,
          load_assignment: {
            cluster_name: 'a',
            endpoints: [
              {
                lb_endpoints: [
                  {
                    endpoint: {
                      address: {
                        envoy_internal_address: { server_listener_name: 'in', endpoint_id: 'e' },
                      },
                    },
                    metadata: { filter_metadata: { told: { k: 'v' }, untold: { k: 'w' } } },
                  },
                ],
              },
            ],
          },
        },
      ],
    },
  });
  return { issues: issuesOf(compiled), update: compiled.update };
}

test('internal listeners are told the metadata that is named, and no other', () => {
  const { issues, update } = compileCluster(
    internal({
      passthrough_metadata: [
        { kind: { host: {} }, name: 'told' },
        { kind: { cluster: {} }, name: 'mine' },
        { kind: { cluster: {} }, name: 'none' },
      ],
    }),
  );
  assert.deepEqual(issues, []);
  assert.deepEqual(update.clusters?.[0]?.internal_upstream, {
    host_namespaces: ['told'],
    cluster_metadata: [
      {
        name: 'mine',
        values: [
          { path: '', text: '{"c":1}', is_json: true },
          { path: 'c', text: '1', is_json: true },
        ],
      },
    ],
    missing: 1,
  });
  const [host] = update.assignments?.[0]?.hosts ?? [];
  assert.deepEqual(host?.address, { internal_listener: 'in', endpoint_id: 'e' });
  assert.deepEqual(
    host?.metadata?.map(({ name }) => name),
    ['told', 'untold'],
  );
});

test("a request's metadata, and a socket that says something of its own first, are refused", () => {
  const { issues } = compileCluster(
    internal({ passthrough_metadata: [{ kind: { request: {} }, name: 'r' }] }),
  );
  assert.match(issues.join(), /metadata type is not supported: request/);
  assert.match(
    compileCluster(internal({ transport_socket: internal({}) })).issues.join(),
    /only what is spoken with the host itself goes to an internal listener/,
  );
});
