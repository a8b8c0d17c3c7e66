import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadBootstrap } from '../../../src/config/load.js';
import { cluster, HTTP_FILTER_PATH, httpFilter, problemsOf } from './problems.js';

const C = 'static_resources.clusters[0]';

describe('fields', () => {
  test('a mistyped field is named with its place and the field that was meant', () => {
    assert.deepEqual(problemsOf(cluster('conect_timeout: 1s')), [
      `4:5: ${C}.conect_timeout: unknown field of envoy.config.cluster.v3.Cluster; did you mean "connect_timeout"?`,
    ]);
  });

  test('a field like no other is named without a suggestion', () => {
    assert.deepEqual(problemsOf(cluster('zebra: []')), [
      `4:5: ${C}.zebra: unknown field of envoy.config.cluster.v3.Cluster`,
    ]);
  });

  test('the beginning of one field name is enough to suggest it', () => {
    assert.deepEqual(
      problemsOf('admin:\n  address:\n    socket_address: {address: 127.0.0.1, port: 1}'),
      [
        '3:42: admin.address.socket_address.port: unknown field of envoy.config.core.v3.SocketAddress; did you mean "port_value"?',
      ],
    );
  });

  test('a required field that is only mistyped is not also called missing', () => {
    assert.deepEqual(problemsOf('admin: {address: {socket_address: {adress: x, port_value: 1}}}'), [
      '1:36: admin.address.socket_address.adress: unknown field of envoy.config.core.v3.SocketAddress; did you mean "address"?',
    ]);
  });

  test('all problems are told at once, in the order of the file', () => {
    const problems = problemsOf(
      'nonsense: 1\nnode: {id: 5}\nadmin: {ignore_global_conn_limit: maybe}\n',
    );
    assert.deepEqual(problems, [
      '1:1: nonsense: unknown field of envoy.config.bootstrap.v3.Bootstrap',
      '2:12: node.id: found 5; expected a string',
      '3:35: admin.ignore_global_conn_limit: found "maybe"; expected true or false',
    ]);
  });

  test('names in lowerCamelCase are taken, and problems name the field as its .proto file does', () => {
    assert.deepEqual(problemsOf(cluster('connectTimeout: 1')), [
      `4:21: ${C}.connect_timeout: found 1; expected a duration in seconds, such as "1.5s"`,
    ]);
  });

  test('a name in another case is unknown', () => {
    assert.deepEqual(problemsOf(cluster('LbPolicy: RANDOM')), [
      `4:5: ${C}.LbPolicy: unknown field of envoy.config.cluster.v3.Cluster; did you mean "lb_policy"?`,
    ]);
  });

  test('both names of one field: the later value counts', () => {
    const { bootstrap } = loadBootstrap({
      inlineYaml: cluster('lb_policy: RANDOM', 'lbPolicy: MAGLEV'),
    });
    assert.equal(bootstrap?.static_resources?.clusters?.[0]?.lb_policy, 'MAGLEV');
  });

  test('null is the same as absent', () => {
    const { bootstrap } = loadBootstrap({
      inlineYaml: cluster('lb_policy: null', 'outlier_detection:'),
    });
    assert.deepEqual(bootstrap?.static_resources?.clusters, [{ name: 'c' }]);
  });

  test('a required field that is null is missing', () => {
    assert.deepEqual(problemsOf('static_resources:\n  clusters:\n  - name: ~\n'), [
      `3:11: ${C}.name: is required`,
    ]);
  });

  test('a deprecated field is a warning', () => {
    assert.deepEqual(problemsOf(cluster('track_timeout_budgets: true')), [
      `warning 4:5: ${C}.track_timeout_budgets: is deprecated`,
    ]);
    assert.deepEqual(problemsOf(cluster('track_timeout_budgets: false')), []);
  });

  test('unknown fields may be allowed: they warn, and the rest is loaded', () => {
    const loaded = loadBootstrap(
      { inlineYaml: cluster('nope: 1', 'lb_policy: NOPE') },
      { unknownFields: 'warning' },
    );
    assert.deepEqual(loaded.bootstrap?.static_resources?.clusters, [{ name: 'c' }]);
    assert.deepEqual(
      loaded.issues.map(({ severity, path, code }) => [severity, path, code]),
      [
        ['warning', `${C}.nope`, 'unknown_field'],
        ['warning', `${C}.lb_policy`, 'unknown_value'],
      ],
    );
  });

  test('a number that no rule allows is refused, whatever becomes of unknown values', () => {
    assert.deepEqual(
      problemsOf(cluster('lb_policy: 99'), { unknownFields: 'warning' }).map((one) =>
        one.slice(0, one.indexOf(';')),
      ),
      [`4:16: ${C}: unknown enum value 99 of envoy.config.cluster.v3.Cluster.LbPolicy`],
    );
  });

  test('a number without a name is a value where no rule closes the enum, of any sign and in quotes', () => {
    const loaded = loadBootstrap({
      inlineYaml: cluster(
        'protocol_selection: 99',
        'upstream_connection_options:',
        '  happy_eyeballs_config: {first_address_family_version: "-1"}',
      ),
    });
    assert.deepEqual(loaded.bootstrap?.static_resources?.clusters, [
      {
        name: 'c',
        protocol_selection: 99,
        upstream_connection_options: {
          happy_eyeballs_config: { first_address_family_version: -1 },
        },
      },
    ]);
  });

  test('of lists with a rule for their elements it is refused as well, and nowhere judged where the real server does not', () => {
    const statuses = cluster('common_lb_config: {override_host_status: {statuses: [HEALTHY, 99]}}');
    assert.deepEqual(
      problemsOf(statuses).map((one) => one.slice(0, one.indexOf(';'))),
      [
        `4:67: ${C}.common_lb_config.override_host_status.statuses: unknown enum value 99 of envoy.config.core.v3.HealthStatus`,
      ],
    );
    const type = 'envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest';
    const policy = `{name: l, typed_config: {"@type": type.googleapis.com/${type}, selection_method: 99}}`;
    assert.deepEqual(
      problemsOf(
        cluster(`load_balancing_policy: {policies: [{typed_extension_config: ${policy}}]}`),
      ),
      [],
    );
  });

  test('keys of JavaScript objects are keys like any other', () => {
    assert.deepEqual(problemsOf('__proto__: {polluted: 1}\nconstructor: {}\ntoString: 1\n'), [
      '1:1: __proto__: unknown field of envoy.config.bootstrap.v3.Bootstrap',
      '2:1: constructor: unknown field of envoy.config.bootstrap.v3.Bootstrap',
      '3:1: toString: unknown field of envoy.config.bootstrap.v3.Bootstrap',
    ]);
    const yaml = 'node: {metadata: {__proto__: {polluted: 1}}}';
    const metadata = loadBootstrap({ inlineYaml: yaml }).bootstrap?.node?.metadata ?? {};
    assert.deepEqual(Object.keys(metadata), ['__proto__']);
    assert.equal(Object.getPrototypeOf(metadata), Object.prototype);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });
});

describe('values', () => {
  const wrong: [name: string, lines: string[], problem: string][] = [
    [
      'words for a number',
      ['per_connection_buffer_limit_bytes: lots'],
      `4:40: ${C}.per_connection_buffer_limit_bytes: found "lots"; expected an integer from 0 to 4294967295`,
    ],
    [
      'a number below zero',
      ['per_connection_buffer_limit_bytes: -1'],
      `4:40: ${C}.per_connection_buffer_limit_bytes: found -1; expected an integer from 0 to 4294967295`,
    ],
    [
      'a number past 32 bits',
      ['per_connection_buffer_limit_bytes: 4294967296'],
      `4:40: ${C}.per_connection_buffer_limit_bytes: found "4294967296"; expected an integer from 0 to 4294967295`,
    ],
    [
      'a fraction for an integer',
      ['per_connection_buffer_limit_bytes: 1.5'],
      `4:40: ${C}.per_connection_buffer_limit_bytes: found "1.5"; expected an integer from 0 to 4294967295`,
    ],
    [
      'a number for a boolean',
      ['connection_pool_per_downstream_connection: 2'],
      `4:48: ${C}.connection_pool_per_downstream_connection: found 2; expected true or false`,
    ],
    [
      'a boolean word for a string',
      ['alt_stat_name: on'],
      `4:20: ${C}.alt_stat_name: found true; expected a string`,
    ],
    [
      'a duration in ms',
      ['connect_timeout: 100ms'],
      `4:22: ${C}.connect_timeout: found "100ms"; expected a duration in seconds, such as "1.5s"`,
    ],
    [
      'a duration without unit',
      ['connect_timeout: 5'],
      `4:22: ${C}.connect_timeout: found 5; expected a duration in seconds, such as "1.5s"`,
    ],
    [
      'a list for a duration',
      ['connect_timeout: [1s]'],
      `4:5: ${C}.connect_timeout: found a list; expected a duration in seconds, such as "1.5s"`,
    ],
    [
      'a list for a message',
      ['load_assignment: []'],
      `4:5: ${C}.load_assignment: found a list; expected a mapping`,
    ],
    [
      'a string for a message',
      ['load_assignment: c'],
      `4:22: ${C}.load_assignment: found "c"; expected a mapping`,
    ],
    [
      'a list for a Struct',
      ['metadata: {filter_metadata: {envoy.lb: [1]}}'],
      `4:34: ${C}.metadata.filter_metadata["envoy.lb"]: found a list; expected a mapping`,
    ],
    [
      'an unknown enum value',
      ['lb_policy: round-robin'],
      `4:16: ${C}: unknown enum value "round-robin" of envoy.config.cluster.v3.Cluster.LbPolicy; expected one of ROUND_ROBIN, LEAST_REQUEST, RING_HASH, RANDOM, MAGLEV, CLUSTER_PROVIDED, LOAD_BALANCING_POLICY_CONFIG; did you mean "ROUND_ROBIN"?`,
    ],
    [
      'an unknown enum number',
      ['dns_lookup_family: 99'],
      `4:24: ${C}: unknown enum value 99 of envoy.config.cluster.v3.Cluster.DnsLookupFamily; expected one of AUTO, V4_ONLY, V6_ONLY, V4_PREFERRED, ALL`,
    ],
    [
      'two of a oneof',
      ['type: STATIC', 'cluster_type: {name: x}'],
      `5:5: ${C}.cluster_type: "type" is set as well; expected only one of type, cluster_type`,
    ],
    [
      'bytes that are no base64',
      [
        'health_checks:',
        '- {timeout: 1s, interval: 1s, unhealthy_threshold: 1, healthy_threshold: 1, tcp_health_check: {send: {binary: "!"}}}',
      ],
      `5:115: ${C}.health_checks[0].tcp_health_check.send.binary: found "!"; expected bytes in base64`,
    ],
  ];
  for (const [name, lines, problem] of wrong) {
    test(`${name} is refused`, () => {
      assert.deepEqual(problemsOf(cluster(...lines)), [problem]);
    });
  }

  test('a long value is cut where a problem quotes it', () => {
    const [problem = ''] = problemsOf(cluster(`connect_timeout: ${'x'.repeat(500)}`));
    assert.ok(problem.length < 200, problem);
  });

  test('numbers and booleans may be strings, single values stand for lists of one, wrappers for messages', () => {
    const { bootstrap, issues } = loadBootstrap({
      inlineYaml: cluster(
        'per_connection_buffer_limit_bytes: "0x10"',
        'connection_pool_per_downstream_connection: "yes"',
        'lb_policy: least_request',
        'type: "3"',
        'wait_for_warm_on_init: {value: true}',
        'connect_timeout: {seconds: 1, nanos: 500000000}',
        'lrs_report_endpoint_metrics: cpu',
      ),
    });
    assert.deepEqual(issues, []);
    assert.deepEqual(bootstrap?.static_resources?.clusters, [
      {
        name: 'c',
        per_connection_buffer_limit_bytes: 16,
        connection_pool_per_downstream_connection: true,
        lb_policy: 'LEAST_REQUEST',
        type: 'EDS',
        wait_for_warm_on_init: true,
        connect_timeout: 1500,
        lrs_report_endpoint_metrics: ['cpu'],
      },
    ]);
  });

  test('durations are milliseconds, with their nanoseconds', () => {
    const { bootstrap } = loadBootstrap({
      inlineYaml: cluster('connect_timeout: 0.1s', 'cleanup_interval: 1.000000001s'),
    });
    const [first] = bootstrap?.static_resources?.clusters ?? [];
    assert.deepEqual([first?.connect_timeout, first?.cleanup_interval], [100, 1000.000001]);
  });

  test('messages nested a hundred times are the deepest', () => {
    const nested = (levels: number) =>
      `static_resources: {listeners: [{address: {pipe: {path: /x}}, listener_filters: [{name: f, filter_disabled: ${'{not_match: '.repeat(
        levels,
      )}{any_match: true}${'}'.repeat(levels)}}]}]}`;
    assert.deepEqual(problemsOf(nested(95)), []);
    assert.deepEqual(
      problemsOf(nested(120)).map((problem) => problem.replace(/^.*: /, '')),
      ['is nested more than 100 messages deep'],
    );
    const metadata = `node: {metadata: ${'{a: '.repeat(2000)}1${'}'.repeat(2000)}}`;
    assert.equal(problemsOf(metadata).length, 1);
  });
});

describe('extensions', () => {
  test('a type URL that is mistyped is named, with the one that was meant', () => {
    const problems = problemsOf(
      httpFilter('{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Ruter}'),
    );
    assert.deepEqual(problems, [
      `11:47: ${HTTP_FILTER_PATH}["@type"]: type "envoy.extensions.filters.http.router.v3.Ruter" is not supported; did you mean "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"?`,
    ]);
  });

  test('a v2 type URL is told its v3 form', () => {
    const [problem = ''] = problemsOf(
      httpFilter('{"@type": type.googleapis.com/envoy.config.filter.http.router.v2.Router}'),
      { refusesV2: true },
    );
    assert.match(
      problem,
      /did you mean "type.googleapis.com\/envoy.extensions.filters.http.router.v3.Router"\?$/,
    );
  });

  test('a type without its host is told the URL', () => {
    const problems = problemsOf(
      httpFilter('{"@type": envoy.extensions.filters.http.router.v3.Router}'),
    );
    assert.deepEqual(problems, [
      `11:47: ${HTTP_FILTER_PATH}["@type"]: "envoy.extensions.filters.http.router.v3.Router" is no type URL; did you mean "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"?`,
    ]);
  });

  test('a configuration without "@type" is refused', () => {
    assert.deepEqual(problemsOf(httpFilter('{start_child_span: true}')), [
      `11:23: ${HTTP_FILTER_PATH}: has no "@type"; expected the type URL of what it holds, as "type.googleapis.com/…"`,
    ]);
  });

  test('an unknown field inside of an extension has its path and place', () => {
    const problems = problemsOf(
      httpFilter(
        '{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router, start_child_spans: true}',
      ),
    );
    assert.deepEqual(problems, [
      `11:115: ${HTTP_FILTER_PATH}.start_child_spans: unknown field of envoy.extensions.filters.http.router.v3.Router; did you mean "start_child_span"?`,
    ]);
  });

  test('a decoded extension has its full name under $type', () => {
    const yaml = httpFilter(
      '{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router, suppressEnvoyHeaders: true}',
    );
    const filter = loadBootstrap({ inlineYaml: yaml }).bootstrap?.static_resources?.listeners?.[0]
      ?.filter_chains?.[0]?.filters?.[0];
    const filters = filter?.typed_config?.['http_filters'] as readonly { typed_config: unknown }[];
    assert.deepEqual(filters[0]?.typed_config, {
      $type: 'envoy.extensions.filters.http.router.v3.Router',
      suppress_envoy_headers: true,
    });
  });

  test('a TypedStruct is read as the message that it names', () => {
    const struct = (value: string) =>
      httpFilter(
        `{"@type": type.googleapis.com/xds.type.v3.TypedStruct, type_url: type.googleapis.com/envoy.extensions.filters.http.router.v3.Router, value: ${value}}`,
      );
    assert.deepEqual(problemsOf(struct('{suppress_envoy_headers: true}')), []);
    assert.deepEqual(
      problemsOf(struct('{suppress_envoy_headers: 5}')).map((problem) =>
        problem.replace(/^\d+:\d+: /, ''),
      ),
      [`${HTTP_FILTER_PATH}.value.suppress_envoy_headers: found 5; expected true or false`],
    );
  });

  test('well-known types in an extension stand under value', () => {
    const yaml = cluster(
      'transport_socket:',
      '  name: x',
      '  typed_config: {"@type": type.googleapis.com/google.protobuf.Duration, value: 5}',
    );
    assert.deepEqual(problemsOf(yaml), [
      `6:84: ${C}.transport_socket.typed_config.value: found 5; expected a duration in seconds, such as "1.5s"`,
    ]);
  });
});
