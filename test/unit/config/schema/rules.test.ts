import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { brokenRule } from '../../../../src/config/schema/rules.js';
import { cluster, problemsOf } from '../problems.js';

const C = 'static_resources.clusters[0]';

describe('rules of the .proto files', () => {
  const wrong: [name: string, yaml: string, problems: string[]][] = [
    [
      'a cluster needs a name',
      'static_resources:\n  clusters:\n  - connect_timeout: 1s\n',
      [`3:5: ${C}.name: is required`],
    ],
    [
      'an empty name is no name',
      'static_resources:\n  clusters:\n  - name: ""\n',
      [`3:11: ${C}.name: found ""; expected at least 1 character`],
    ],
    [
      'a port ends at 65535',
      'admin: {address: {socket_address: {address: "::1", port_value: 70000}}}',
      ['1:64: admin.address.socket_address.port_value: found 70000; expected at most 65535'],
    ],
    [
      'an address is of some kind',
      'admin:\n  address: {}\n',
      [
        '2:3: admin.address: has no address; expected one of socket_address, pipe, envoy_internal_address',
      ],
    ],
    [
      'a timeout is more than nothing',
      cluster('connect_timeout: 0s'),
      [`4:22: ${C}.connect_timeout: found 0s; expected more than 0s`],
    ],
    [
      'a duration has both bounds',
      'stats_flush_interval: 301s',
      ['1:23: stats_flush_interval: found 301s; expected at least 0.001s and less than 300s'],
    ],
    [
      'a percentage ends at 100',
      cluster('common_lb_config: {healthy_panic_threshold: {value: 101}}'),
      [
        `4:57: ${C}.common_lb_config.healthy_panic_threshold.value: found 101; expected from 0 to 100`,
      ],
    ],
    [
      'NaN is within no bounds',
      cluster('common_lb_config: {healthy_panic_threshold: {value: NaN}}'),
      [
        `4:57: ${C}.common_lb_config.healthy_panic_threshold.value: found NaN; expected from 0 to 100`,
      ],
    ],
    [
      'a layer needs a name, the second too',
      'layered_runtime: {layers: [{name: a, static_layer: {x: 1}}, {static_layer: {}}]}',
      ['1:61: layered_runtime.layers[1].name: is required'],
    ],
    [
      'an extension is judged as well',
      cluster(
        'typed_extension_protocol_options:',
        '  o:',
        '    "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
        '    explicit_http_config: {}',
      ),
      [
        `7:9: ${C}.typed_extension_protocol_options.o.explicit_http_config: has no protocol_config; expected one of http_protocol_options, http2_protocol_options, http3_protocol_options`,
      ],
    ],
    [
      'a header name has no line breaks',
      cluster(
        'health_checks:',
        '- timeout: 1s',
        '  interval: 1s',
        '  healthy_threshold: 1',
        '  unhealthy_threshold: 1',
        '  http_health_check: {path: /, request_headers_to_remove: ["a\\nb"]}',
      ),
      [
        `9:64: ${C}.health_checks[0].http_health_check.request_headers_to_remove[0]: found "a\\nb"; expected the name of an HTTP header`,
      ],
    ],
  ];
  for (const [name, yaml, problems] of wrong) {
    test(name, () => {
      assert.deepEqual(problemsOf(yaml), problems);
    });
  }

  test('all that a health check lacks is told at once', () => {
    assert.deepEqual(problemsOf(cluster('health_checks:', '- timeout: 1s')), [
      `5:7: ${C}.health_checks[0].interval: is required`,
      `5:7: ${C}.health_checks[0].unhealthy_threshold: is required`,
      `5:7: ${C}.health_checks[0].healthy_threshold: is required`,
      `5:7: ${C}.health_checks[0]: has no health_checker; expected one of http_health_check, tcp_health_check, grpc_health_check, custom_health_check`,
    ]);
  });

  test('rules of a member of a oneof hold only where it is set', () => {
    assert.deepEqual(
      problemsOf('node: {id: a}\nadmin: {address: {pipe: {path: /run/admin}}}\n'),
      [],
    );
  });

  test('a value that is of the wrong type is not also told its range', () => {
    assert.deepEqual(
      problemsOf('admin: {address: {socket_address: {address: a, port_value: x}}}'),
      [
        '1:60: admin.address.socket_address.port_value: found "x"; expected an integer from 0 to 4294967295',
      ],
    );
  });
});

describe('one value', () => {
  test('lengths count characters, not UTF-16 units; byte lengths bytes', () => {
    assert.equal(brokenRule({ string: { max_len: 2 } }, '😀😀'), undefined);
    assert.equal(brokenRule({ string: { max_bytes: 2 } }, 'ä!'), 'at most 2 bytes');
  });

  test('what may be empty is not judged when it is', () => {
    const rules = { string: { well_known_regex: 'HTTP_HEADER_NAME', ignore_empty: true } } as const;
    assert.equal(brokenRule(rules, ''), undefined);
    assert.equal(brokenRule(rules, 'a b'), 'the name of an HTTP header');
  });

  test('a header value that need not be strict may have tabs and control characters but no line breaks', () => {
    const rules = { string: { well_known_regex: 'HTTP_HEADER_VALUE', strict: false } } as const;
    assert.equal(brokenRule(rules, 'a\tb\x01'), undefined);
    assert.equal(brokenRule(rules, 'a\r\nb'), 'the value of an HTTP header');
  });

  test('choices, prefixes and patterns are named', () => {
    assert.equal(
      brokenRule({ string: { in: ['http', 'https'] } }, 'ftp'),
      'one of "http", "https"',
    );
    assert.equal(brokenRule({ string: { prefix: '/' } }, 'x'), '"/…"');
    assert.equal(brokenRule({ string: { pattern: '^a+$' } }, 'b'), 'a string that matches ^a+$');
    assert.equal(brokenRule({ uint32: { in: [1, 2] } }, 3), 'one of 1, 2');
    assert.equal(brokenRule({ bool: { const: true } }, false), 'true');
    assert.equal(brokenRule({ bytes: { min_len: 1 } }, new Uint8Array()), 'at least 1 byte');
  });
});
