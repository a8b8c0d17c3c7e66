// h2spec, the conformance tests of HTTP/2 and HPACK, all of them and strictly. It is a Go program: where
// there is no Go, or no way to its modules, nothing is said.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { toCluster, webBootstrap } from './support/bootstraps.js';
import { SERVER_CERTIFICATE, SERVER_KEY } from './support/certificates.js';
import { makeFolder, startProxy } from './support/start-proxy.js';

const H2SPEC = 'github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible';
const TLS_CONTEXT =
  'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';

const run = promisify(execFile);

/** Where h2spec is; undefined: it cannot be had. */
async function installH2spec(t: TestContext): Promise<string | undefined> {
  const folder = makeFolder(t);
  try {
    await run('go', ['install', H2SPEC], {
      env: { ...process.env, GOBIN: folder, GOFLAGS: '-p=1' },
      timeout: 240_000,
    });
    return join(folder, 'h2spec');
  } catch (error) {
    t.skip(`h2spec cannot be built: ${String(error).slice(0, 200)}`);
    return undefined;
  }
}

/** An HTTP/1 origin behind a connection manager that speaks HTTP/2 with clients; its port. */
async function startServer(t: TestContext, transport_socket?: object): Promise<number> {
  const origin = createServer((request, response) => {
    request.resume().on('end', () => response.end('an answer of some length'));
  });
  t.after(() => {
    origin.closeAllConnections();
    origin.close();
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const { port } = origin.address() as AddressInfo;
  const web = JSON.parse(
    JSON.stringify(webBootstrap([toCluster('/', 'origin')], { origin: port })),
  ) as {
    static_resources: {
      listeners: {
        filter_chains: { transport_socket?: object; filters: { typed_config: object }[] }[];
      }[];
    };
  };
  const chain = web.static_resources.listeners[0]?.filter_chains[0];
  assert.ok(chain);
  Object.assign(chain.filters[0]?.typed_config ?? {}, {
    codec_type: transport_socket ? 'AUTO' : 'HTTP2',
    delayed_close_timeout: '0.1s',
    http2_protocol_options: { max_concurrent_streams: 100 },
  });
  if (transport_socket) chain.transport_socket = transport_socket;
  const proxy = await startProxy(t, web);
  return Number(/\d+$/.exec(await proxy.listenerUrl('web'))?.[0]);
}

async function conform(h2spec: string, port: number, ...more: readonly string[]): Promise<void> {
  const args = ['--strict', '-h', '127.0.0.1', '-p', String(port), '-o', '4', ...more];
  const { stdout } = await run(h2spec, args, { timeout: 240_000, maxBuffer: 1 << 24 }).catch(
    (failure: unknown) => failure as { stdout: string },
  );
  const last = stdout.trimEnd().split('\n').at(-1);
  assert.equal(
    last,
    '146 tests, 146 passed, 0 skipped, 0 failed',
    stdout.slice(stdout.indexOf('Failures')),
  );
}

test('every test of h2spec passes, in the clear and over TLS', async (t) => {
  const h2spec = await installH2spec(t);
  if (h2spec === undefined) return;
  await t.test('in the clear', async (clear) => conform(h2spec, await startServer(clear)));
  await t.test('over TLS', async (secure) => {
    const certificate = {
      certificate_chain: { inline_string: SERVER_CERTIFICATE },
      private_key: { inline_string: SERVER_KEY },
    };
    const common_tls_context = { alpn_protocols: ['h2'], tls_certificates: [certificate] };
    const typed_config = { '@type': TLS_CONTEXT, common_tls_context };
    const socket = { name: 'envoy.transport_sockets.tls', typed_config };
    await conform(h2spec, await startServer(secure, socket), '-t', '-k');
  });
});
