import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { compileFormat } from '../../../../src/plan/format/format.js';
import { FormatPiece_Operator as Operator } from '../../../../src/plan/plan.gen.js';

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
  assert.deepEqual(piecesOf('%HOSTNAME% %ENVIRONMENT(FAIRLEAD_TEST):3% %ACCESS_LOG_TYPE%'), [
    { operator: Operator.LITERAL, argument: `${hostname()} val DownstreamEnd` },
  ]);
  assert.deepEqual(piecesOf('%ENVIRONMENT(FAIRLEAD_NO_SUCH)%'), [
    { operator: Operator.LITERAL, argument: '-' },
  ]);
  assert.equal(piecesOf('%ACCESS_LOG_TYPE%', 'tcp_log')[0]?.argument, 'TcpConnectionEnd');
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
  ['%TRACE_ID%', 'the operator %TRACE_ID% is not supported yet'],
];

for (const [text, error] of ERRORS) {
  test(`"${text}" is refused: ${error}`, () => assert.equal(errorOf(text), error));
}

test('a mistyped operator is told the nearest', () => {
  const result = compileFormat('%PROTOCL%', 'http_log');
  assert.equal('suggestion' in result && result.suggestion, 'PROTOCOL');
});
