// What is said of listen sockets, and who may come to them.
import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { says, toCluster, webBootstrap } from './support/bootstraps.js';
import { runCommand, startProxy } from './support/start-proxy.js';

interface Bootstrap {
  readonly static_resources: { readonly listeners: readonly object[] };
}

/** The bootstrap of a web server whose listener has other fields. */
function listening(fields: object, routes = [says('/', '%DOWNSTREAM_REMOTE_ADDRESS%')]): object {
  const web = webBootstrap(routes) as unknown as Bootstrap;
  const [listener] = web.static_resources.listeners;
  return {
    ...web,
    static_resources: { ...web.static_resources, listeners: [{ ...listener, ...fields }] },
  };
}

const page = async (adminUrl: string, path: string): Promise<string> =>
  (await fetch(`${adminUrl}/${path}`)).text();

const portOf = (url: string): number => Number(/\d+$/.exec(url)?.[0]);

async function connectTo(t: TestContext, port: number, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect(port, host);
  t.after(() => socket.destroy());
  await new Promise<void>((resolve, reject) => socket.on('connect', resolve).on('error', reject));
  return socket;
}

const IPPROTO_TCP = 6;
const TCP_DEFER_ACCEPT = 9;

test('an option of a listen socket is the kernel’s: it keeps who says nothing', async (t) => {
  const option = { level: IPPROTO_TCP, name: TCP_DEFER_ACCEPT, int_value: 60 };
  for (const state of ['STATE_PREBIND', 'STATE_BOUND', 'STATE_LISTENING']) {
    const socket_options = [
      { ...option, state },
      { ...option, int_value: 0, state, type: { datagram: {} } },
    ];
    const proxy = await startProxy(t, listening({ socket_options }));
    const port = portOf(await proxy.listenerUrl('web'));
    await connectTo(t, port);
    const speaking = await connectTo(t, port);
    speaking.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await new Promise((resolve) => speaking.once('data', resolve));

    const stats = await page(proxy.adminUrl, 'stats?filter=http.web.downstream_cx_total');
    assert.match(stats, /http\.web\.downstream_cx_total: 1\n/, state);
  }
});

test('an option that the kernel refuses keeps the proxy from starting, by its number', async (t) => {
  const socket_options = [{ level: 1, name: 9999, int_value: 1 }];
  const text = JSON.stringify(listening({ socket_options }));
  const { code, stderr } = await runCommand(t, '--config-yaml', text, '--use-dynamic-base-id');
  assert.equal(code, 1);
  assert.match(stderr, /cannot set the option 1\/9999 of '127\.0\.0\.1:0': Protocol not available/);
});

function anyAddress(ipv4_compat: boolean): object {
  return { address: { socket_address: { address: '::', port_value: 0, ipv4_compat } } };
}

test('a listener of IPv6 takes clients of IPv4 where it is told to, by their own addresses', async (t) => {
  const routes = [says('/', 'yes')];
  const proxy = await startProxy(
    t,
    listening(
      {
        ...anyAddress(true),
        access_log: [
          {
            name: 'envoy.access_loggers.stdout',
            typed_config: {
              '@type':
                'type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog',
              log_format: {
                text_format_source: {
                  inline_string:
                    'from %DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT% at %DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT%\n',
                },
              },
            },
          },
        ],
      },
      routes,
    ),
    '--file-flush-interval-msec',
    '10',
  );
  const port = portOf(await proxy.listenerUrl('web'));
  for (const host of ['127.0.0.1', '[::1]']) {
    const answer = await new Promise<number | undefined>((resolve, reject) => {
      request(`http://${host}:${port}/`, { agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      })
        .on('error', reject)
        .end();
    });
    assert.equal(answer, 200);
  }
  await proxy.command.prints(/^from 127\.0\.0\.1 at 127\.0\.0\.1$/m);
  await proxy.command.prints(/^from ::1 at ::1$/m);
});

test('a listener of IPv6 that is told nothing takes none of IPv4', async (t) => {
  const proxy = await startProxy(t, listening(anyAddress(false)));
  const port = portOf(await proxy.listenerUrl('web'));
  await assert.rejects(connectTo(t, port), { code: 'ECONNREFUSED' });
});

test('a router without dynamic statistics counts no answers by status, and takes no times', async (t) => {
  const origin = createServer((_, response) => response.end('yes'));
  t.after(() => origin.close());
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  const bootstrap = JSON.stringify(webBootstrap([toCluster('/', 'origin')], { origin: port }));
  const quiet = bootstrap.replace('filters.http.router.v3.Router"', '$&,"dynamic_stats":false');
  assert.notEqual(quiet, bootstrap);
  const proxy = await startProxy(t, JSON.parse(quiet) as object);
  assert.equal(await (await fetch(await proxy.listenerUrl('web'))).text(), 'yes');

  const stats = await page(proxy.adminUrl, 'stats?usedonly&filter=cluster.origin.*upstream_rq');
  assert.match(stats, /^cluster\.origin\.upstream_rq_total: 1$/m);
  assert.doesNotMatch(stats, /upstream_rq_(200|2xx|completed|time)/);
  assert.match(await page(proxy.adminUrl, 'clusters'), /::rq_success::1\n/);
});

test('a listener takes clients at each of its addresses, and workers as many each', async (t) => {
  const at = (host: string): object => ({
    address: { socket_address: { address: host, port_value: 0 } },
  });
  const proxy = await startProxy(
    t,
    listening({
      additional_addresses: [at('127.0.0.2'), at('127.0.0.3')],
      connection_balance_config: { exact_balance: {} },
    }),
    '--concurrency',
    '2',
  );
  const lines = (await page(proxy.adminUrl, 'listeners')).trimEnd().split('\n');
  assert.equal(lines.length, 3);
  const places = lines.map((line) => /^web::([\d.]+):(\d+)$/.exec(line) ?? []);
  for (const [, host = '', port = ''] of places) {
    for (let i = 0; i < 2; ++i) await connectTo(t, Number(port), host);
  }
  const active = async (): Promise<string> =>
    page(proxy.adminUrl, 'stats?filter=listener.*worker_.*downstream_cx_active');
  const counts = [...(await active()).matchAll(/_active: (\d+)/g)].map(([, n]) => Number(n));
  assert.deepEqual(counts, [3, 3]);
  for (const [, host = '', port = ''] of places) {
    assert.equal((await fetch(`http://${host}:${port}/`)).status, 200);
  }
});
