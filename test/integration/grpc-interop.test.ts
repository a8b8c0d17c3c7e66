// gRPC's own interoperability tests: its client and server in Go, with the proxy between them. To build
// these takes minutes, so they are played where FAIRLEAD_GRPC_INTEROP is set.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from './support/certificates.js';
import { grpcBootstrap } from './support/grpc-bootstrap.js';
import { makeFolder, Program, startProxy } from './support/start-proxy.js';

const VERSION = 'v1.76.0';
const PROGRAMS = ['client', 'server'].map(
  (name) => `google.golang.org/grpc/interop/${name}@${VERSION}`,
);
const CASES = [
  'empty_unary',
  'large_unary',
  'client_streaming',
  'server_streaming',
  'ping_pong',
  'empty_stream',
  'timeout_on_sleeping_server',
  'cancel_after_begin',
  'cancel_after_first_response',
  'status_code_and_message',
  'special_status_message',
  'custom_metadata',
  'unimplemented_method',
  'unimplemented_service',
];

const run = promisify(execFile);

/** The folder with both programs; undefined: they cannot be had. */
async function install(t: TestContext): Promise<string | undefined> {
  if (process.env.FAIRLEAD_GRPC_INTEROP === undefined) {
    t.skip('FAIRLEAD_GRPC_INTEROP is not set: their programs take minutes to build');
    return undefined;
  }
  const folder = makeFolder(t);
  try {
    await run('go', ['install', ...PROGRAMS], {
      env: { ...process.env, GOBIN: folder, GOFLAGS: '-p=1' },
      timeout: 240_000,
    });
    return folder;
  } catch (error) {
    t.skip(`gRPC's interoperability tests cannot be built: ${String(error).slice(0, 200)}`);
    return undefined;
  }
}

/** The server's port. */
async function startServer(t: TestContext, folder: string): Promise<number> {
  const server = new Program(t, [join(folder, 'server'), '--port=0'], {
    env: { ...process.env, GRPC_GO_LOG_SEVERITY_LEVEL: 'info' },
  });
  const listening = /listening (?:on|at) \S*:(\d+)/;
  await server.says(listening);
  return Number(listening.exec(server.stderr)?.[1]);
}

async function playAll(
  t: TestContext,
  folder: string,
  port: number,
  ...more: readonly string[]
): Promise<void> {
  for (const name of CASES)
    await t.test(name, async () => {
      const args = ['--server_host=127.0.0.1', `--server_port=${port}`, `--test_case=${name}`];
      await run(join(folder, 'client'), [...args, ...more], { timeout: 60_000 });
    });
}

test('the interoperability tests of gRPC pass, in the clear and over TLS', async (t) => {
  const folder = await install(t);
  if (folder === undefined) return;
  const server = await startServer(t, folder);
  await t.test('in the clear', async (clear) => {
    const proxy = await startProxy(clear, grpcBootstrap(server));
    await playAll(clear, folder, Number(/\d+$/.exec(await proxy.listenerUrl('web'))?.[0]));
  });
  await t.test('over TLS', async (secure) => {
    const authorities = join(folder, 'authority.pem');
    writeFileSync(authorities, AUTHORITY);
    const certificate = { certificate: SERVER_CERTIFICATE, key: SERVER_KEY };
    const proxy = await startProxy(secure, grpcBootstrap(server, certificate));
    const port = Number(/\d+$/.exec(await proxy.listenerUrl('web'))?.[0]);
    const options = ['--use_tls', '--use_test_ca', `--ca_file=${authorities}`];
    await playAll(secure, folder, port, ...options, '--server_host_override=server.test');
  });
  assert.equal(CASES.length, 14);
});
