// Access logs of listeners and of the admin server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_ONLY, address, says, webBootstrap } from './support/bootstraps.js';
import { makeFolder, runCommand, startProxy } from './support/start-proxy.js';

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
