import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { AdminReply } from '../../../../src/admin/http/http.js';
import { Taps } from '../../../../src/taps/taps.js';
import type { TapDeclaration } from '../../../../src/plan/match/tap.js';
import { AskedServer, FakeHost } from '../fake-host.js';

const WAITING: readonly TapDeclaration[] = [{ configId: 'mine' }];
// A TraceWrapper whose request has the header a: b and the body "hi".
const TRACE = Buffer.from('0a100a0e0a060a016112016212040a026869', 'hex');

function serverOf(declarations = WAITING): { asked: AskedServer; host: FakeHost } {
  const host = new FakeHost();
  host.taps = new Taps(host.native, declarations, () => undefined);
  return { asked: new AskedServer({}, host), host };
}

const request = (sink: object, output: object = {}): string =>
  JSON.stringify({
    config_id: 'mine',
    tap_config: { match: { any_match: true }, output_config: { sinks: [sink], ...output } },
  });

interface Client {
  readonly pieces: string[];
  isEnded: boolean;
  readonly leave: () => void;
}

function attach(asked: AskedServer, body: string): Client {
  const reply: AdminReply = asked.ask('/tap', { method: 'POST', body });
  assert.ok(typeof reply.body === 'object' && 'listen' in reply.body, JSON.stringify(reply));
  const client = { pieces: [] as string[], isEnded: false, leave: () => undefined as void };
  client.leave = reply.body.listen(
    (piece) => client.pieces.push(piece.toString()),
    () => (client.isEnded = true),
  );
  return client;
}

test('/tap is only there where a tap waits for it', () => {
  assert.equal(serverOf([]).asked.post('/tap').status, 404);
  assert.equal(serverOf().asked.get('/tap').status, 400);
});

test('a body that is none, no YAML or no tap request is refused with the reason', () => {
  const { asked } = serverOf();
  const refused = (body: string): string => {
    const { status, text } = asked.post('/tap', { body });
    assert.equal(status, 400);
    return text;
  };
  assert.equal(refused(''), '/tap requires a JSON/YAML body');
  assert.equal(
    refused('not: [valid'),
    'yaml-cpp: error at line 1, column 1: end of sequence flow not found',
  );
  assert.match(refused('a: 1\nb: @c'), /^yaml-cpp: error at line 2, column 4: /);
  assert.equal(refused('3'), 'Unable to convert YAML as JSON: 3');
  assert.match(refused('{"config_id": "mine"}'), /^tap_config: is required/);
  assert.match(refused('{"config_id": "mine", "x": 1}'), /^x: unknown field/);
  assert.equal(
    refused(request({ streaming_admin: {} }).replace('mine', 'other')),
    "Unknown config id 'other'. No extension has registered with this id.",
  );
  assert.match(refused(request({ streaming_grpc: { grpc_service: {} } })), /streaming_grpc/);
});

test('the rules of a request hold for one with a deprecated name in it too', () => {
  const { asked } = serverOf();
  const tap_config = {
    match_config: { and_match: { rules: [{ any_match: true }] } },
    output_config: { sinks: [{ streaming_admin: {} }, { streaming_admin: {} }] },
  };
  const body = JSON.stringify({ config_id: 'mine', tap_config });
  const { status, text } = asked.post('/tap', { body });
  assert.equal(status, 400);
  assert.match(text, /and_match\.rules: has 1 element; expected at least 2 elements/);
  assert.match(text, /sinks: has 2 elements; expected at most 1 element/);
});

test('traces are streamed as they come, until the client leaves', () => {
  const { asked, host } = serverOf();
  const client = attach(asked, request({ streaming_admin: {}, format: 'JSON_BODY_AS_STRING' }));
  host.native.traced?.(0, 1n, TRACE);
  const trace = JSON.parse(client.pieces[0] ?? '') as object;
  assert.deepEqual(trace, {
    http_buffered_trace: {
      request: {
        headers: [{ key: 'a', value: 'b', raw_value: '' }],
        body: { truncated: false, as_string: 'hi' },
        trailers: [],
      },
    },
  });
  assert.ok(client.pieces[0]?.endsWith('}\n'));
  const busy = asked.post('/tap', { body: request({ streaming_admin: {} }) });
  assert.equal(busy.text, 'An attached /tap admin stream already exists. Detach it.');
  client.leave();
  host.native.traced?.(0, 2n, TRACE);
  assert.equal(client.pieces.length, 1);
  assert.deepEqual(host.native.calls, ['apply', 'apply']);
  attach(asked, request({ streaming_admin: {} }));
});

test('buffered traces come together when there are enough, and end the answer', () => {
  const { asked, host } = serverOf();
  const client = attach(asked, request({ buffered_admin: { max_traces: 2 } }));
  host.native.traced?.(0, 1n, TRACE);
  assert.deepEqual(client.pieces, []);
  host.native.traced?.(0, 2n, TRACE);
  assert.equal(client.pieces.length, 2);
  assert.ok(client.isEnded);
  assert.equal(host.taps.isTaken, false);
});

test('buffered traces come at the latest when the time is over', (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { asked, host } = serverOf();
  const client = attach(asked, request({ buffered_admin: { max_traces: 9, timeout: '2s' } }));
  host.native.traced?.(0, 1n, TRACE);
  t.mock.timers.tick(2000);
  assert.equal(client.pieces.length, 1);
  assert.ok(client.isEnded);
});

test('a trace can be had in every format of protobuf', () => {
  for (const [format, expected] of [
    ['PROTO_BINARY', TRACE.toString()],
    ['PROTO_BINARY_LENGTH_DELIMITED', `${String.fromCharCode(TRACE.length)}${TRACE.toString()}`],
    [
      'PROTO_TEXT',
      'http_buffered_trace {\n  request {\n    headers {\n      key: "a"\n      value: "b"\n    }\n' +
        '    body {\n      as_bytes: "hi"\n    }\n  }\n}\n',
    ],
  ]) {
    const { asked, host } = serverOf();
    const client = attach(asked, request({ streaming_admin: {}, format }));
    host.native.traced?.(0, 1n, TRACE);
    assert.deepEqual(client.pieces, [expected]);
  }
});
