import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { compileFormat } from '../../../../src/plan/format/format.js';
import {
  FormatPiece_MetadataSource,
  FormatPiece_Operator as Operator,
} from '../../../../src/plan/plan.gen.js';

function piecesOf(text: string, use: 'header' | 'http_log' | 'tcp_log' = 'http_log') {
  const result = compileFormat(text, use);
  assert.ok('format' in result, 'error' in result ? result.error : '');
  return result.format.pieces ?? [];
}

function errorOf(text: string): string {
  const result = compileFormat(text, 'http_log');
  return 'error' in result ? result.error : 'no error';
}

test('text and operators become pieces in their order', () => {
  assert.deepEqual(piecesOf('a %PROTOCOL% b'), [
    { operator: Operator.LITERAL, argument: 'a ' },
    { operator: Operator.PROTOCOL },
    { operator: Operator.LITERAL, argument: ' b' },
  ]);
  assert.deepEqual(piecesOf(''), []);
});

test('two percent signs are one', () => {
  assert.deepEqual(piecesOf('100%%'), [{ operator: Operator.LITERAL, argument: '100%' }]);
});

test('headers are asked for in lower case, with a second choice and a length', () => {
  const [piece] = piecesOf('%REQ(X-Envoy-Original-Path?:PATH):4%');
  assert.deepEqual(piece, {
    operator: Operator.REQ,
    argument: 'x-envoy-original-path',
    alternative: ':path',
    max_length: 4,
  });
});

test("a request's host is its authority; an answer's is its own header", () => {
  assert.equal(piecesOf('%REQ(Host)%')[0]?.argument, ':authority');
  assert.equal(piecesOf('%RESP(Host)%')[0]?.argument, 'host');
});

test('values that filters left are asked for by namespace and key, or all together', () => {
  const [whole] = piecesOf('%DYNAMIC_METADATA(a.b):9%');
  assert.deepEqual(whole, {
    operator: Operator.DYNAMIC_METADATA,
    argument: 'a.b',
    alternative: '',
    max_length: 9,
  });
  const [value] = piecesOf('%DYNAMIC_METADATA(a.b:key)%');
  assert.equal(value?.alternative, 'key');
  const [deeper] = piecesOf('%DYNAMIC_METADATA(a.b:key:more)%');
  assert.equal(deeper?.alternative, 'key\0more');
  const [tlvs] = piecesOf('%FILTER_STATE(envoy.network.proxy_protocol.tlv)%');
  assert.equal(tlvs?.operator, Operator.PROXY_PROTOCOL_TLV);
  const [tlv] = piecesOf('%FILTER_STATE(envoy.network.proxy_protocol.tlv:FIELD:aws)%');
  assert.equal(tlv?.argument, 'aws');
  assert.match(
    errorOf('%FILTER_STATE(envoy.network.proxy_protocol.tlv:FIELD)%'),
    /FIELD should be used with the field name/,
  );
});

test('a time format may hold percent signs of its own', () => {
  assert.deepEqual(piecesOf('%START_TIME(%Y/%m %3f)%'), [
    { operator: Operator.START_TIME, argument: '%Y/%m %3f' },
  ]);
});

test('what is known when the format is compiled joins the text around it', (context) => {
  process.env['FAIRLEAD_TEST'] = 'value';
  context.after(() => delete process.env['FAIRLEAD_TEST']);
  assert.deepEqual(piecesOf('%HOSTNAME% %ENVIRONMENT(FAIRLEAD_TEST):3%'), [
    { operator: Operator.LITERAL, argument: `${hostname()} val` },
  ]);
  assert.deepEqual(piecesOf('%ENVIRONMENT(FAIRLEAD_NO_SUCH)%'), [
    { operator: Operator.LITERAL, argument: '-' },
  ]);
});

test('metadata is that of the source that its first part names', () => {
  assert.deepEqual(piecesOf('%METADATA(VIRTUAL_HOST:kit:a:b):3%'), [
    {
      operator: Operator.METADATA,
      metadata_source: FormatPiece_MetadataSource.VIRTUAL_HOST,
      argument: 'kit',
      alternative: 'a\0b',
      max_length: 3,
    },
  ]);
  assert.equal(piecesOf('%METADATA(DYNAMIC:kit:a)%')[0]?.operator, Operator.DYNAMIC_METADATA);
  const [host] = piecesOf('%UPSTREAM_METADATA(kit)%');
  assert.equal(host?.metadata_source, FormatPiece_MetadataSource.UPSTREAM_HOST);
});

test('alternatives are operators of their own, with arguments and lengths', () => {
  const text = '{"operators":["PROTOCOL",{"command":"REQ","param":"X-A","max_length":2}]}';
  assert.deepEqual(piecesOf(`%COALESCE(${text}):9%`), [
    {
      operator: Operator.COALESCE,
      alternatives: [
        { operator: Operator.PROTOCOL },
        { operator: Operator.REQ, argument: 'x-a', alternative: '', max_length: 2 },
      ],
      max_length: 9,
    },
  ]);
});

test('an address is shown as a network where a length is given', () => {
  const [network] = piecesOf('%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT(16)%');
  assert.equal(network?.prefix_length, 16);
  const [whole] = piecesOf('%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT(x)%');
  assert.equal(whole?.prefix_length, undefined);
});

test('what TLS knows of either side is asked for by its name', () => {
  assert.deepEqual(piecesOf('%DOWNSTREAM_TLS_VERSION%%UPSTREAM_PEER_SUBJECT%'), [
    { operator: Operator.DOWNSTREAM_TLS, argument: 'TLS_VERSION' },
    { operator: Operator.UPSTREAM_TLS, argument: 'PEER_SUBJECT' },
  ]);
  assert.deepEqual(piecesOf('%DOWNSTREAM_PEER_CERT_V_END(%Y)%'), [
    { operator: Operator.DOWNSTREAM_PEER_CERT_V_END, argument: '%Y' },
  ]);
});

const ERRORS: readonly (readonly [string, string])[] = [
  ['%', "Incorrect configuration: %. Couldn't find valid command at position 0"],
  ['100%', "Incorrect configuration: 100%. Couldn't find valid command at position 3"],
  ['%req(x)%', "Incorrect configuration: %req(x)%. Couldn't find valid command at position 0"],
  ['%REQ(x):%', "Incorrect configuration: %REQ(x):%. Couldn't find valid command at position 0"],
  // An argument stays on its line.
  [
    '%START_TIME(a\nb)%',
    "Incorrect configuration: %START_TIME(a\nb)%. Couldn't find valid command at position 0",
  ],
  ['%REQ(a?b?c)%', 'More than 1 alternative header specified in token: a?b?c'],
  ['%REQ(a(b))%', 'Invalid header configuration. Format string contains invalid characters.'],
  ['%REQ%', 'REQ requires parameters'],
  ['%PROTOCOL(x)%', 'PROTOCOL does not take any parameters or length'],
  ['%PROTOCOL:5%', 'PROTOCOL does not take any parameters or length'],
  ['%START_TIME:5%', 'START_TIME does not allow length to be specified.'],
  ['%PATH(X)%', "Invalid PATH option: 'X', only 'WQ'/'NQ' are allowed"],
  ['%COMMON_DURATION(DS_RX_BEG)%', 'Invalid common duration configuration: DS_RX_BEG.'],
  [
    '%GRPC_STATUS(NOPE)%',
    'GrpcStatusFormatter only supports CAMEL_STRING, SNAKE_STRING or NUMBER. Got: NOPE',
  ],
  ['%NOPE%', 'Not supported field in StreamInfo: NOPE'],
  ['%EMIT_TIME(%n)%', 'Invalid header configuration. Format string contains newline.'],
  ['%METADATA(X:a)%', 'X is not supported type of metadata'],
  ['%COMMON_DURATION(a:b:c)%', 'Invalid common duration precision: c.'],
  ['%QUERY_PARAMS(X)%', "Invalid QUERY_PARAMS option: 'X', only 'ORIG'/'DECODED' are allowed"],
  ['%XFCC_VALUE(x)%', 'XFCC_VALUE command does not support subcommand: x'],
  ['%COALESCE({})%', "COALESCE: JSON configuration must contain 'operators' array"],
  [
    '%COALESCE({"operators":["NOPE"]})%',
    "COALESCE: failed to parse operator at index 0: unknown command: 'NOPE'",
  ],
  ['%CEL(request.path)%', 'the operator %CEL% is not supported yet'],
  ['%TRACE_ID:5%', 'TRACE_ID does not take any parameters or length'],
];

for (const [text, error] of ERRORS) {
  test(`"${text}" is refused: ${error}`, () => assert.equal(errorOf(text), error));
}

test('a mistyped operator is told the nearest', () => {
  const result = compileFormat('%PROTOCL%', 'http_log');
  assert.equal('suggestion' in result && result.suggestion, 'PROTOCOL');
});
