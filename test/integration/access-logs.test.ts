// Access logs of listeners and of the admin server.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import {
  ADMIN_ONLY,
  address,
  says,
  webBootstrap,
  webListener,
  webRoutes,
} from './support/bootstraps.js';
import { packageRoot } from '../../src/base/package-root.js';
import {
  Program,
  listenerPort,
  makeFolder,
  runCommand,
  startProxy,
  untilLive,
} from './support/start-proxy.js';
import { readStats } from './hot-restart/epochs.js';

const NETWORK = 'type.googleapis.com/envoy.extensions.filters.network';
const LOGGERS = 'type.googleapis.com/envoy.extensions.access_loggers';

const fileLog = (path: string, format: string, filter?: object): object => ({
  name: 'file',
  ...(filter && { filter }),
  typed_config: {
    '@type': `${LOGGERS}.file.v3.FileAccessLog`,
    path,
    log_format: { text_format_source: { inline_string: format } },
  },
});

/** All that came back until the connection ended. */
async function say(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(text);
  let answer = '';
  for await (const piece of socket) answer += String(piece);
  return answer;
}

async function linesOf(path: string, count: number): Promise<string[]> {
  for (;;) {
    const lines = readFileSync(path, 'utf8').split('\n');
    if (lines.length > count) return lines.slice(0, -1);
    await sleep(10);
  }
}

test('a log of a listener has a line for each connection, whatever it speaks', async (t) => {
  const path = join(makeFolder(t), 'log');
  const format = '%PROTOCOL% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %FILTER_CHAIN_NAME%\n';
  const access_log = [fileLog(path, format)];
  const listener = (name: string, filter: object, match?: object): object => ({
    name,
    access_log,
    address: address(0),
    filter_chains: [{ filters: [filter], ...(match && { filter_chain_match: match }) }],
  });
  const echo = { name: 'echo', typed_config: { '@type': `${NETWORK}.echo.v3.Echo` } };
  const bye = {
    name: 'envoy.filters.network.direct_response',
    typed_config: {
      '@type': `${NETWORK}.direct_response.v3.Config`,
      response: { inline_string: 'bye' },
    },
  };
  const nobody = { source_prefix_ranges: [{ address_prefix: '192.0.2.1', prefix_len: 32 }] };
  const web = webBootstrap([says('/', 'yes')]) as {
    static_resources: { listeners: object[] };
  };
  const bootstrap = {
    ...web,
    static_resources: {
      listeners: [
        ...web.static_resources.listeners.map((plain) => ({ ...plain, access_log })),
        listener('echo', echo),
        listener('bye', bye),
        listener('nobody', echo, nobody),
      ],
    },
  };
  const proxy = await startProxy(t, bootstrap, '--file-flush-interval-msec', '20');
  const portOf = async (name: string): Promise<number> =>
    Number(new URL(await proxy.listenerUrl(name)).port);

  const answer = await say(
    await portOf('web'),
    'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  );
  await linesOf(path, 1);
  await say(await portOf('echo'), 'abc');
  await linesOf(path, 2);
  await say(await portOf('bye'), '');
  await linesOf(path, 3);
  await say(await portOf('nobody'), '');

  assert.deepEqual(await linesOf(path, 4), [
    `HTTP/1.1 - 46 ${answer.length} -`,
    '- - 3 3 -',
    '- - 0 3 -',
    '- NR 0 0 -',
  ]);
});

interface HttpBootstrap {
  readonly static_resources: {
    readonly listeners: readonly {
      readonly filter_chains: readonly {
        readonly filters: readonly { typed_config: object }[];
      }[];
    }[];
  };
}

/** A listener "web" whose requests go to these logs. */
function loggedWeb(...access_log: readonly object[]): object {
  const bootstrap = webBootstrap([says('/', 'yes')]) as unknown as HttpBootstrap;
  const filter = bootstrap.static_resources.listeners[0]?.filter_chains[0]?.filters[0];
  assert.ok(filter);
  filter.typed_config = { ...filter.typed_config, access_log };
  return bootstrap;
}

/** One after the other, each on a connection of its own. */
async function ask(port: number, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    await say(port, `GET /${i} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  }
}

test('what two workers log is in the order of its end, from flush to flush', async (t) => {
  const REQUESTS = 400;
  const path = join(makeFolder(t), 'log');
  const proxy = await startProxy(
    t,
    loggedWeb(fileLog(path, '%REQ(:PATH)%\n')),
    // Some of both: flushes by time, and of lanes that are full.
    ...['--concurrency', '2', '--file-flush-interval-msec', '20', '--file-flush-min-size-kb', '1'],
  );
  await ask(Number(new URL(await proxy.listenerUrl('web')).port), REQUESTS);

  assert.deepEqual(
    await linesOf(path, REQUESTS),
    Array.from({ length: REQUESTS }, (_, i) => `/${i}`),
  );
  const stats = await readStats(proxy.adminUrl, 'worker_[01].downstream_cx_total|^filesystem');
  for (const [name, value] of stats) {
    if (name.startsWith('listener.')) assert.ok(value > 0, `${name}: ${value}`);
  }
  assert.equal(stats.get('filesystem.write_buffered'), REQUESTS);
  assert.equal(stats.get('filesystem.write_total_buffered'), 0);
});

test('standard output and standard error may be one file, and no line is lost', async (t) => {
  const REQUESTS = 200;
  const folder = makeFolder(t);
  const [file, config] = [join(folder, 'both'), join(folder, 'bootstrap.json')];
  const bootstrap = loggedWeb(
    fileLog('/dev/stdout', 'out %REQ(:PATH)%\n'),
    fileLog('/dev/stderr', 'err %REQ(:PATH)%\n'),
  );
  writeFileSync(config, JSON.stringify(bootstrap));
  const proxy = new Program(t, [
    ...['sh', '-c', `exec "$0" "$@" > ${file} 2>&1`],
    ...[process.execPath, `${packageRoot()}/dist/cli.js`, '-c', config, '--use-dynamic-base-id'],
    ...['--admin-address-path', join(folder, 'admin'), '--concurrency', '2'],
    ...['--file-flush-interval-msec', '10'],
  ]);
  const adminUrl = await untilLive(proxy, join(folder, 'admin'));
  await ask(await listenerPort(adminUrl, 'web'), REQUESTS);
  assert.equal((await proxy.end()).code, 0);

  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const of = (begin: string): string[] => lines.filter((line) => line.startsWith(begin));
  const wanted = (begin: string): string[] =>
    Array.from({ length: REQUESTS }, (_, i) => `${begin} /${i}`);
  assert.deepEqual(of('out'), wanted('out'));
  assert.deepEqual(of('err'), wanted('err'));
  const log = of('[20');
  assert.equal(log.filter((line) => /initializing epoch 0/.test(line)).length, 1);
  assert.match(log.at(-1) ?? '', /exiting/);
  assert.equal(lines.length, 2 * REQUESTS + log.length);
});

test('the admin server logs with every format, filter and logger, at once', async (t) => {
  const folder = makeFolder(t);
  const path = (name: string): string => join(folder, name);
  const only404 = {
    status_code_filter: {
      comparison: { op: 'EQ', value: { default_value: 404, runtime_key: 'none' } },
    },
  };
  const stdout = {
    name: 'stdout',
    typed_config: {
      '@type': `${LOGGERS}.stream.v3.StdoutAccessLog`,
      log_format: { text_format_source: { inline_string: 'asked for %REQ(:PATH)%\n' } },
    },
  };
  const format =
    '%REQ(:METHOD)% %REQ(:PATH)% %REQ(FOO)% %RESP(SERVER)% %RESPONSE_CODE% ' +
    '%RESPONSE_CODE_DETAILS% %DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%\n';
  const bootstrap = {
    admin: {
      ...ADMIN_ONLY.admin,
      access_log_path: path('old'),
      access_log: [
        fileLog(path('new'), format),
        fileLog(path('404'), '%REQ(:PATH)%\n', only404),
        stdout,
      ],
    },
  };
  const proxy = await startProxy(t, bootstrap);
  await fetch(`${proxy.adminUrl}/ready`, { headers: { foo: 'bar' } });
  await fetch(`${proxy.adminUrl}/nothing`);

  const own = (lines: readonly string[]): string[] =>
    lines.filter((line) => /bar|nothing/.test(line)).slice(0, 2);
  let lines: string[] = [];
  while (lines.length < 2) lines = own(await linesOf(path('new'), 2));
  assert.deepEqual(lines, [
    'GET /ready bar envoy 200 admin_filter_response 127.0.0.1',
    'GET /nothing - envoy 404 admin_filter_response 127.0.0.1',
  ]);
  assert.deepEqual(await linesOf(path('404'), 1), ['/nothing']);
  assert.match((await linesOf(path('old'), 1))[0] ?? '', /^\[.*\] "GET \/\S+ HTTP\/1.1" 200 - 0 /);
  await proxy.command.prints(/^asked for \/nothing$/m);
  const counts = await (await fetch(`${proxy.adminUrl}/stats?filter=filesystem.write_`)).text();
  assert.match(counts, /write_buffered: [1-9]\d*\n[^]*write_completed: [1-9]/);
});

test('an access log of the admin server that cannot be opened is named', async (t) => {
  const admin = { ...ADMIN_ONLY.admin, access_log: [fileLog('/nowhere/log', 'x')] };
  const config = JSON.stringify({ admin });
  const { code, stderr } = await runCommand(t, '--config-yaml', config, '--use-dynamic-base-id');

  assert.equal(code, 1);
  assert.match(stderr, /unable to open file '\/nowhere\/log': No such file or directory/);
});

test('a gRPC service is told of requests, and of who tells it', async (t) => {
  const server = new Server();
  t.after(() => server.forceShutdown());
  const messages: Buffer[] = [];
  const asIs = (bytes: Buffer): Buffer => bytes;
  const serve = (call: { on(event: 'data', take: (bytes: Buffer) => void): void }): void =>
    call.on('data', (bytes) => messages.push(bytes));
  server.register(
    '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs',
    serve as never,
    asIs,
    asIs,
    'clientStream',
  );
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = ServerCredentials.createInsecure();
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  const log = {
    name: 'grpc',
    typed_config: {
      '@type': `${LOGGERS}.grpc.v3.HttpGrpcAccessLogConfig`,
      common_config: {
        log_name: 'the-log',
        transport_api_version: 'V3',
        buffer_flush_interval: '0.05s',
        grpc_service: {
          google_grpc: { target_uri: `127.0.0.1:${port}`, stat_prefix: 'logs' },
        },
      },
    },
  };
  const listener = webListener(
    { route_config: webRoutes([says('/', 'yes')]), access_log: [log] },
    0,
  );
  const proxy = await startProxy(t, {
    ...ADMIN_ONLY,
    node: { id: 'the-node', cluster: 'c' },
    static_resources: { listeners: [listener] },
  });
  await fetch(`${await proxy.listenerUrl('web')}/the-path`);
  while (messages.length === 0) await sleep(10);
  const text = messages[0]?.toString('latin1') ?? '';
  for (const word of ['the-node', 'the-log', '/the-path', 'direct_response']) {
    assert.ok(text.includes(word), word);
  }
});
