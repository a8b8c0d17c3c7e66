import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccessLogFilter_Comparison,
  AccessLogFilter_Kind,
  FormatPiece_Operator,
  JsonFormat_Kind,
} from '../../../../src/plan/plan.gen.js';
import {
  any,
  compile,
  compileStatic,
  connectionManager,
  FILE_LOG,
  issuesOf,
  listenerOf,
} from '../helpers.js';

function logOf(config: object, filter?: object) {
  const log = {
    name: 'log',
    typed_config: any(FILE_LOG, { path: '/tmp/a.log', ...config }),
    ...(filter && { filter }),
  };
  const compiled = compileStatic({
    listeners: [listenerOf(connectionManager({}, { access_log: [log] }))],
  });
  const http = compiled.update.listeners?.[0]?.filter_chains?.[0]?.http;
  return { issues: issuesOf(compiled), log: http?.access_logs?.[0] };
}

test('a log without a format has the default one, which ends its line', () => {
  const { log, issues } = logOf({});
  assert.deepEqual(issues, []);
  assert.equal(log?.path, '/tmp/a.log');
  assert.equal(log?.format?.pieces?.at(-1)?.argument, '"\n');
});

test('the older format field and the newer ones mean the same', () => {
  const pieces = [{ operator: 0, argument: 'x' }];
  assert.deepEqual(logOf({ format: 'x' }).log?.format?.pieces, pieces);
  assert.deepEqual(logOf({ log_format: { text_format: 'x' } }).log?.format?.pieces, pieces);
  assert.deepEqual(
    logOf({ log_format: { text_format_source: { inline_string: 'x' } } }).log?.format?.pieces,
    pieces,
  );
});

test('a fault in a format is reported where the format stands', () => {
  assert.deepEqual(logOf({ log_format: { text_format_source: { inline_string: '%' } } }).issues, [
    "error typed_config.log_format.text_format_source: Incorrect configuration: %. Couldn't find valid command at position 0 (%%?)",
  ]);
});

test('a JSON format is a tree of literals, texts and values with types, its members sorted', () => {
  const { log, issues } = logOf({
    log_format: {
      omit_empty_values: true,
      json_format: {
        z: true,
        a: '%RESPONSE_CODE%',
        'k"': ['50%%', null, 'a %PROTOCOL%', '%ENVIRONMENT(NO)%'],
      },
    },
  });
  assert.deepEqual(issues, []);
  const format = log?.format;
  assert.equal(format?.omit_empty, true);
  const { NULL, VALUE, TEXT, OBJECT, LIST } = JsonFormat_Kind;
  const { LITERAL: TEXT_PIECE, PROTOCOL, RESPONSE_CODE } = FormatPiece_Operator;
  assert.deepEqual(format?.json, {
    kind: OBJECT,
    items: [
      { key: '"a"', kind: VALUE, pieces: [{ operator: RESPONSE_CODE }] },
      {
        key: '"k\\""',
        kind: LIST,
        items: [
          { kind: TEXT, pieces: [{ operator: TEXT_PIECE, argument: '50%' }] },
          { kind: NULL },
          {
            kind: TEXT,
            pieces: [{ operator: TEXT_PIECE, argument: 'a ' }, { operator: PROTOCOL }],
          },
          { kind: TEXT, pieces: [{ operator: TEXT_PIECE, argument: '-' }] },
        ],
      },
      { key: '"z"', literal: 'true' },
    ],
  });
});

test('numbers of a JSON format read as the real server prints doubles', () => {
  const expected: readonly (readonly [number, string])[] = [
    [0, '0'],
    [3, '3'],
    [-3, '-3'],
    [1.5, '1.5'],
    [0.1, '0.1'],
    [100, '100'],
    [1e5, '1e+05'],
    [1e6, '1e+06'],
    [123456789012, '123456789012'],
    [12345678.9, '12345678.9'],
    [1e20, '1e+20'],
    [1e23, '1e+23'],
    [123456789012345680000, '123456789012345683968'],
    [1e-5, '1e-05'],
    [-1e-5, '-1e-05'],
    [1.25e-3, '0.00125'],
    [1e100, '1e+100'],
    [9007199254740992, '9007199254740992'],
  ];
  const { log } = logOf({ log_format: { json_format: { l: expected.map(([value]) => value) } } });
  const [list] = log?.format?.json?.items ?? [];
  assert.deepEqual(
    list?.items?.map(({ literal }) => literal),
    expected.map(([, text]) => text),
  );
});

test('the older JSON fields of a file log mean the same', () => {
  for (const name of ['json_format', 'typed_json_format']) {
    const { log, issues } = logOf({ [name]: { a: '%PROTOCOL%' } });
    assert.deepEqual(
      issues.filter((issue) => issue.startsWith('error')),
      [],
    );
    assert.equal(log?.format?.json?.items?.[0]?.key, '"a"');
  }
});

test('a fault in a JSON format is reported, however deep it stands', () => {
  assert.deepEqual(logOf({ log_format: { json_format: { a: { b: ['%NOPE%'] } } } }).issues, [
    'error typed_config.log_format.json_format: Not supported field in StreamInfo: NOPE',
  ]);
});

test('logs go to standard output and error by their names', () => {
  const compiled = compileStatic({
    listeners: [
      listenerOf(connectionManager({}), {
        access_log: ['Stdout', 'Stderr'].map((name) => ({
          name,
          typed_config: any(`envoy.extensions.access_loggers.stream.v3.${name}AccessLog`),
        })),
      }),
    ],
  });
  assert.deepEqual(issuesOf(compiled), []);
  const paths = compiled.update.listeners?.[0]?.access_logs?.map(({ path }) => path);
  assert.deepEqual(paths, ['/dev/stdout', '/dev/stderr']);
});

test('filters keep their tree', () => {
  const status = {
    status_code_filter: {
      comparison: { op: 'GE', value: { default_value: 500, runtime_key: 'k' } },
    },
  };
  const flags = { response_flag_filter: { flags: ['NR', 'UF'] } };
  const { log, issues } = logOf(
    {},
    { or_filter: { filters: [status, { and_filter: { filters: [flags] } }] } },
  );
  assert.deepEqual(issues, []);
  // Others of the connection manager may come before it.
  const slot = log?.filter?.filters?.[0]?.slot;
  assert.ok(slot !== undefined && slot > 0);
  assert.deepEqual(log?.filter, {
    kind: AccessLogFilter_Kind.OR,
    filters: [
      {
        kind: AccessLogFilter_Kind.STATUS,
        comparison: AccessLogFilter_Comparison.GE,
        value: 500,
        slot,
      },
      {
        kind: AccessLogFilter_Kind.AND,
        filters: [{ kind: AccessLogFilter_Kind.FLAGS, flags: ['NR', 'UF'] }],
      },
    ],
  });
});

test('a header that must be absent is asked for so', () => {
  const { log } = logOf(
    {},
    { header_filter: { header: { name: 'X-Quiet', present_match: false } } },
  );
  assert.equal(log?.filter?.header?.name, 'x-quiet');
  assert.equal(log.filter.header.present, false);
});

test('kinds of logs and statuses of gRPC are known by their numbers', () => {
  const types = { log_type_filter: { types: ['DownstreamEnd', 'TcpConnectionStart'] } };
  assert.deepEqual(logOf({}, types).log?.filter?.numbers, [6, 14]);
  const statuses = { grpc_status_filter: { statuses: ['NOT_FOUND'], exclude: true } };
  const { filter } = logOf({}, statuses).log ?? {};
  assert.deepEqual([filter?.numbers, filter?.excludes], [[5], true]);
});

test('metadata that is not there fits, unless the filter says otherwise', () => {
  const matcher = { filter: 'kit', path: [{ key: 'a' }], value: { bool_match: true } };
  const { filter } = logOf({}, { metadata_filter: { matcher } }).log ?? {};
  assert.equal(filter?.matches_missing, true);
  assert.equal(filter.metadata_value?.literal, 'true');
  assert.equal(filter.metadata_path, 'a');
});

test('a runtime filter counts in millionths', () => {
  const filter = {
    runtime_filter: {
      runtime_key: 'r',
      percent_sampled: { numerator: 5, denominator: 'TEN_THOUSAND' },
    },
  };
  assert.equal(logOf({}, filter).log?.filter?.share_millionths, 500);
});

test('filters of their own kind are refused by name', () => {
  assert.match(
    logOf(
      {},
      { extension_filter: { name: 'envoy.access_loggers.extension_filters.cel' } },
    ).issues.join(),
    /extension_filter of \S+ is not supported yet/,
  );
});

test('the admin server logs as listeners do; to the old path in the default format', () => {
  const compiled = compile({
    admin: {
      access_log_path: '/tmp/old.log',
      access_log: [
        { name: 'log', typed_config: any(FILE_LOG, { path: '/tmp/new.log', format: 'x' }) },
      ],
      address: { socket_address: { address: '127.0.0.1', port_value: 9901 } },
    },
  });
  assert.deepEqual(issuesOf(compiled), []);
  const { accessLogs = [], ...rest } = compiled.admin ?? {};
  assert.deepEqual(
    accessLogs.map(({ path, format }) => [path, (format?.pieces?.length ?? 0) > 1]),
    [
      ['/tmp/old.log', true],
      ['/tmp/new.log', false],
    ],
  );
  assert.deepEqual(compiled.update.admin_access_logs, accessLogs);
  assert.deepEqual(rest, {
    address: { host: '127.0.0.1', port: 9901 },
    ignoresConnectionLimit: false,
    socketOptions: [],
    profilePath: '/var/log/envoy/envoy.prof',
    allowPaths: [],
  });
  assert.equal(compile({ admin: {} }).admin, undefined);
});
