import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatPath, parsePath } from '../../../../src/config/issues/field-path.js';
import { schema } from '../../../../src/config/schema/schema.js';
import { nearestName } from '../../../../src/base/suggest.js';

describe('the schema', () => {
  test('has what Envoy 1.40 has and the shipped files lack', () => {
    const has = (message: string, ...fields: string[]) => {
      for (const field of fields)
        assert.ok(schema().findMessage(message)?.field(field), `${message}.${field}`);
    };
    has('envoy.config.bootstrap.v3.Admin', 'allow_paths');
    has(
      'envoy.config.bootstrap.v3.Bootstrap',
      'stats_eviction_interval',
      'enable_worker_cpu_affinity',
    );
    has('envoy.admin.v3.CommandLineOptions', 'skip_deprecated_logs', 'file_flush_min_size');
    has('envoy.config.route.v3.RouteMatch', 'cookies', 'filter_state');
    has('envoy.config.route.v3.RouteAction', 'flush_timeout', 'path_rewrite');
    has('envoy.config.listener.v3.Listener', 'tcp_keepalive', 'fcds_config');
    has('envoy.extensions.clusters.dns.v3.DnsCluster', 'dns_lookup_family');
    has(
      'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      'auto_host_sni',
      'auto_sni_san_validation',
    );
  });

  test('rules that changed are those of 1.40', () => {
    const rules = schema().getMessage('envoy.type.v3.TokenBucket').field('max_tokens')?.rules;
    assert.deepEqual(rules, { uint32: { gte: 0 } });
  });

  test('every field resolves', () => {
    let fields = 0;
    for (const name of schema().messageNames()) {
      const value = schema().valueTypeOf(name);
      if (value?.kind !== 'message') continue;
      for (const field of value.type.fields) {
        assert.ok(field.value.kind);
        assert.equal(value.type.field(field.jsonName), field, `${name}.${field.jsonName}`);
        fields++;
      }
    }
    assert.ok(fields > 4000, String(fields));
  });

  test('secrets are known to be such', () => {
    const key = schema()
      .getMessage('envoy.extensions.transport_sockets.tls.v3.TlsCertificate')
      .field('private_key');
    assert.equal(key?.sensitive, true);
  });

  test('v2 names lead to their v3 messages', () => {
    assert.equal(
      schema().nearestMessage('envoy.api.v2.Cluster'),
      'envoy.config.cluster.v3.Cluster',
    );
  });
});

describe('suggestions', () => {
  test('the nearest name is the one with the fewest changes', () => {
    assert.equal(nearestName('adress', ['admin', 'address', 'addresses']), 'address');
    assert.equal(nearestName('nmae', ['name', 'node']), 'name');
    assert.equal(nearestName('connectTimeout', ['connect_timeout']), 'connect_timeout');
  });

  test('a name like no other has no suggestion', () => {
    assert.equal(nearestName('hosts', ['name', 'type']), undefined);
    assert.equal(nearestName('x'.repeat(100_000), ['name']), undefined);
  });

  test('a stem that several names share suggests none of them', () => {
    assert.equal(nearestName('port', ['port_value', 'port_name']), undefined);
  });
});

describe('paths', () => {
  test('read back as they were written', () => {
    const path = ['a', 0, 'b_c', 'envoy.lb "x"]', '@type', 12, 'd'];
    assert.equal(formatPath(path), 'a[0].b_c["envoy.lb \\"x\\"]"]["@type"][12].d');
    assert.deepEqual(parsePath(formatPath(path)), path);
  });

  test('text that is no path gives what can be read of it', () => {
    assert.deepEqual(parsePath('a.b[x].c'), ['a', 'b']);
  });
});
