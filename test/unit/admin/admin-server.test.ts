import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBug } from '../../../src/base/bugs.js';
import { REQUEST_HEADERS, type AdminRequest } from '../../../src/admin/http/http.js';
import { StringMatch_Kind } from '../../../src/plan/plan.gen.js';
import { optionsOf } from '../support/options.js';

import { AskedServer, NO_CONNECTION } from './fake-host.js';

test('an unknown path is answered with the list of what there is', () => {
  const { status, text } = new AskedServer().get('/nothing');

  assert.equal(status, 404);
  assert.match(text, /^invalid path\. admin commands are:\n {2}\/: /);
});

test('paths match exactly: case, a slash at the end and a longer name make another path', () => {
  const asked = new AskedServer();

  for (const path of ['/READY', '/ready/', '/statsfoo'])
    assert.equal(asked.get(path).status, 404, path);
});

test('doubled slashes and dots in a path mean what they mean in a file name', () => {
  const asked = new AskedServer();

  for (const path of ['//ready', '/./ready', '/x/../ready?y'])
    assert.equal(asked.get(path).text, 'LIVE\n', path);
});

test('a mutation by any method but POST is answered with 400 and changes nothing', () => {
  const asked = new AskedServer();

  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
    assert.deepEqual(asked.get('/quitquitquit', { method }), {
      status: 400,
      type: 'text',
      text: `Method ${method} not allowed, POST required.`,
    });
  }
  asked.get('/reset_counters');
  assert.deepEqual([asked.host.asked, asked.host.native.calls], [[], []]);
});

test('a query by POST is served as by GET', () => {
  assert.deepEqual(new AskedServer().post('/ready'), { status: 200, type: 'text', text: 'LIVE\n' });
});

test('a page of another site may look, as far as its browser lets it, and change nothing', () => {
  const asked = new AskedServer();

  for (const origin of ['http://evil.test', 'http://localhost:8080', 'null']) {
    assert.equal(asked.post('/quitquitquit', { headers: { origin } }).status, 403, origin);
    assert.equal(asked.get('/ready', { headers: { origin } }).status, 200, origin);
  }
  for (const site of ['cross-site', 'same-site']) {
    const headers = { 'sec-fetch-site': site };
    assert.equal(asked.post('/quitquitquit', { headers }).status, 403, site);
  }
  assert.deepEqual(asked.host.asked, []);
});

test("the admin server's own page may ask", () => {
  const { status } = new AskedServer().post('/quitquitquit', {
    headers: { origin: 'http://localhost:9901', 'sec-fetch-site': 'same-origin' },
  });

  assert.equal(status, 200);
});

test('on loopback a foreign name that leads here is refused: it would pass for its own site', () => {
  const asked = new AskedServer();

  assert.equal(asked.get('/ready', { headers: { host: 'rebound.test:9901' } }).status, 403);
  const own = ['localhost', 'localhost.:80', 'LOCALHOST.', 'a:80', '127.0.0.1:9901', '[::1]:9901'];
  for (const host of [...own, 'admin.localhost', '127.0.0.1:', '[::ffff:127.0.0.1]']) {
    assert.equal(asked.get('/ready', { headers: { host } }).status, 200, host);
  }
  for (const host of ['rebound.test.', '127.0.0.1.rebound.test', 'localhost.rebound.test:80']) {
    assert.equal(asked.get('/ready', { headers: { host } }).status, 403, host);
  }
});

test('a name that is listed is as good as localhost; * lists them all', () => {
  const ask = (listed: string, host: string): number => {
    const asked = new AskedServer();
    asked.host.options = optionsOf('-c', 'bootstrap.yaml', '--admin-allowed-host', listed);
    return asked.get('/ready', { headers: { host } }).status;
  };
  assert.equal(ask('proxy.example', 'Proxy.Example:9901'), 200);
  assert.equal(ask('proxy.example', 'other.example:9901'), 403);
  assert.equal(ask('*', 'other.example:9901'), 200);
});

test('on an address for others any name will do, unless a browser sent it', () => {
  for (const address of [
    { host: '0.0.0.0', port: 0 },
    { host: '10.1.2.3', port: 0 },
    { pipe: '/run/admin', mode: 0 },
  ]) {
    const asked = new AskedServer({ address });
    const statusFor = (host: string, headers: object, rawHeaders: readonly string[] = []): number =>
      asked.get('/ready', { headers: { host, ...headers }, rawHeaders }).status;
    const name = 'proxy-7.example:9901';

    assert.equal(statusFor(name, {}), 200);
    assert.equal(statusFor(name, { 'user-agent': 'Prometheus/3.0' }), 200);
    assert.equal(statusFor(name, { origin: `http://${name}` }), 403);
    assert.equal(statusFor(name, { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }), 403);
    for (const header of ['Sec-Fetch-Site', 'sec-fetch-mode', 'Sec-Fetch-Dest']) {
      assert.equal(statusFor(name, {}, [header, 'same-origin']), 403, header);
    }
    for (const own of ['localhost:9901', '10.1.2.3:9901', 'proxy-7:9901']) {
      assert.equal(statusFor(own, { origin: `http://${own}` }), 200, own);
    }
    asked.host.options = optionsOf('-c', 'b.yaml', '--admin-allowed-host', 'proxy-7.example');
    assert.equal(statusFor(name, { origin: `http://${name}` }), 200);
  }
});

test('allow_paths: what no matcher takes is refused, the query counts as part of the path', () => {
  const asked = new AskedServer({
    allowPaths: [
      { kind: StringMatch_Kind.EXACT, value: '/ready' },
      { kind: StringMatch_Kind.PREFIX, value: '/STATS', ignore_case: true },
      { kind: StringMatch_Kind.REGEX, regex: { pattern: '/clus.*' } },
    ],
  });

  for (const target of ['/ready', '/stats?filter=x', '/clusters']) {
    assert.equal(asked.get(target).status, 200, target);
  }
  assert.deepEqual(asked.get('/ready?x'), {
    status: 403,
    type: 'text',
    text: 'request to path /ready?x not allowed',
  });
  assert.equal(asked.get('/memory').status, 403);
});

test('a handler that fails is answered with 500, and the bug is told', (t) => {
  const asked = new AskedServer();
  const bugs: string[] = [];
  t.after(onBug((where, thrown) => bugs.push(`${where}: ${String(thrown)}`)));
  asked.host.native.listeners = () => {
    throw new Error('lost');
  };

  assert.deepEqual(asked.get('/listeners'), {
    status: 500,
    type: 'text',
    text: 'internal error\n',
  });
  assert.deepEqual(bugs, ['the admin request GET /listeners: Error: lost']);
});

test('requests are logged where there is an access log', () => {
  for (const accessLogs of [[], [{ path: '/tmp/admin.log' }]]) {
    const asked = new AskedServer({ accessLogs });
    asked.get('/ready');
    assert.equal(asked.host.native.calls.length, accessLogs.length);
  }
});

test('requests are counted by the class of their status, here and for the listener', () => {
  const asked = new AskedServer();
  asked.get('/ready');
  asked.get('/nothing');
  asked.get('/quitquitquit');

  const { native } = asked.host;
  assert.equal(native.value('http.admin.downstream_rq_total'), 3);
  assert.equal(native.value('http.admin.downstream_rq_completed'), 3);
  assert.equal(native.value('http.admin.downstream_rq_2xx'), 1);
  assert.equal(native.value('http.admin.downstream_rq_4xx'), 2);
  assert.equal(native.value('listener.admin.http.admin.downstream_rq_4xx'), 2);
  assert.equal(native.value('http.admin.downstream_rq_active'), 0);
});

test('requests that go nowhere are counted as what they are', () => {
  const asked = new AskedServer();
  const count = (name: string): number | undefined =>
    asked.host.native.value(`http.admin.downstream_${name}`);
  const request = {
    method: 'GET',
    target: '/ready',
    headers: Object.fromEntries(
      REQUEST_HEADERS.map((name) => [name, '']),
    ) as AdminRequest['headers'],
    body: '',
    namesHost: false,
    asksToClose: false,
    beganMs: Date.now(),
    rawHeaders: [],
    connection: NO_CONNECTION,
  };
  asked.server.connectionOpened();
  asked.server.received(120, 0);
  assert.deepEqual(['cx_rx_bytes_buffered', 'cx_http1_active'].map(count), [120, 1]);
  asked.server.abandoned(request);
  asked.server.connectionClosed({ lengthMs: 7, isLocal: false, lastBytes: 120 });
  const left = ['rq_rx_reset', 'cx_destroy_active_rq', 'cx_destroy_remote_active_rq'];
  assert.deepEqual(left.map(count), [1, 1, 1]);
  const whole = ['rq_total', 'cx_rx_bytes_total', 'rq_active', 'cx_destroy_remote'];
  assert.deepEqual(whole.map(count), [1, 120, 0, 1]);
  assert.equal(count('rq_completed'), undefined);

  assert.deepEqual(['cx_rx_bytes_buffered', 'cx_http1_active'].map(count), [0, 0]);

  asked.server.connectionOpened();
  asked.server.refuse(request, 400);
  asked.server.connectionClosed({ lengthMs: 0, isLocal: true, lastBytes: 0 });
  const malformed = ['cx_protocol_error', 'rq_response_before_rq_complete', 'cx_destroy_local'];
  assert.deepEqual(malformed.map(count), [1, 1, 1]);
  assert.deepEqual(['rq_rx_reset', 'rq_4xx'].map(count), [2, 1]);

  asked.get('/ready#part');
  assert.deepEqual(['rq_failed_path_normalization', 'cx_protocol_error'].map(count), [1, 1]);
  asked.get('*');
  assert.equal(count('rq_non_relative_path'), 1);
});

test('a target that is no path is refused before anything looks at it', () => {
  const asked = new AskedServer();
  const answers = ['*', 'http://elsewhere/ready', '/ready#part', '/ready%00'].map((target) =>
    asked.get(target),
  );

  assert.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    [
      [404, ''],
      [404, ''],
      [400, ''],
      [400, ''],
    ],
  );
  assert.equal(asked.get('/ready?a%00').text, 'LIVE\n');
});

test('a WebSocket is opened for its own page only, where pages may be seen, and counts', (t) => {
  const ask = (headers: object = {}, plan: object = {}): boolean => {
    const asked = new AskedServer(plan);
    const isOpen = asked.server.admitSocket(asked.request('/ui/live', { headers }));
    assert.equal(asked.host.native.value('http.admin.downstream_rq_1xx'), isOpen ? 1 : undefined);
    return isOpen;
  };

  assert.equal(ask(), true);
  assert.equal(ask({ origin: 'http://localhost:9901' }), true);
  assert.equal(ask({ origin: 'http://evil.test' }), false);
  assert.equal(ask({ 'sec-fetch-site': 'cross-site' }), false);
  assert.equal(ask({ host: 'rebound.test' }), false);
  assert.equal(ask({}, { allowPaths: [{ kind: StringMatch_Kind.EXACT, value: '/ready' }] }), false);
  process.env.FAIRLEAD_ADMIN_HTML = 'disabled';
  t.after(() => delete process.env.FAIRLEAD_ADMIN_HTML);
  assert.equal(ask(), false);
});

test('what a WebSocket looks at is held to the rules of requests, and counts as none', () => {
  const asked = new AskedServer({
    allowPaths: [{ kind: StringMatch_Kind.PREFIX, value: '/r' }],
  });
  const look = (target: string): number =>
    asked.server.look(asked.request(target, { method: 'POST' })).status ?? 200;

  assert.deepEqual(['/ready', '/stats', '/reset_counters'].map(look), [200, 403, 400]);
  assert.deepEqual(asked.host.asked, []);
  assert.equal(asked.host.native.value('http.admin.downstream_rq_total'), undefined);
});

test('a plain request for the WebSocket is told what it is for', () => {
  assert.equal(new AskedServer().get('/ui/live').status, 426);
});
