import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compileStatic, ECHO, issuesOf, socketAddress } from '../../plan/helpers.js';

const EXT_AUTHZ = 'envoy.extensions.filters.network.ext_authz.v3.ExtAuthz';
const RATELIMIT = 'envoy.extensions.filters.network.ratelimit.v3.RateLimit';
const SERVICE = { envoy_grpc: { cluster_name: 'g' } };

function guardOf(type: string, fields: object) {
  const compiled = compileStatic({
    clusters: [],
    listeners: [
      {
        name: 'main',
        address: socketAddress(10_000),
        filter_chains: [
          {
            filters: [
              { name: 'one', typed_config: any(type, { stat_prefix: 'p', ...fields }) },
              { name: 'echo', typed_config: any(ECHO) },
            ],
          },
        ],
      },
    ],
  });
  return {
    issues: issuesOf(compiled).join('\n'),
    guard: compiled.update.listeners?.[0]?.filter_chains?.[0]?.guards?.[0],
  };
}

test('network ext_authz asks a service of gRPC, within 200 ms unless told otherwise', () => {
  const { guard } = guardOf(EXT_AUTHZ, { grpc_service: SERVICE, failure_mode_allow: true });
  assert.equal(guard?.ext_authz?.service?.cluster, 'g');
  assert.equal(guard?.ext_authz?.service?.timeout_ms, 200);
  assert.equal(guard?.ext_authz?.failure_mode_allow, true);
  assert.match(
    guardOf(EXT_AUTHZ, { grpc_service: SERVICE, send_tls_alert_on_denial: true }).issues,
    /send_tls_alert_on_denial .* is not supported/,
  );
});

test('network ratelimit tells its service of entries, whose values are formats', () => {
  const fields = {
    domain: 'd',
    rate_limit_service: { grpc_service: SERVICE, transport_api_version: 'V3' },
  };
  const descriptors = [{ entries: [{ key: 'k', value: '%PROTOCOL%' }] }];
  const { guard } = guardOf(RATELIMIT, { ...fields, descriptors });
  assert.equal(guard?.ratelimit?.service?.timeout_ms, 20);
  assert.equal(guard?.ratelimit?.descriptors?.[0]?.entries?.[0]?.key, 'k');
  const wrong = [{ entries: [{ key: 'k', value: '%NOPE%' }] }];
  assert.match(guardOf(RATELIMIT, { ...fields, descriptors: wrong }).issues, /NOPE/);
});
