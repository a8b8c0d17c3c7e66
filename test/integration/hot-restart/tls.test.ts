// Restarts while clients speak TLS: nobody notices, and sessions go on where the configuration has keys.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { says, webBootstrap } from '../support/bootstraps.js';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from '../support/certificates.js';
import { listenerPort } from '../support/start-proxy.js';
import { Epochs } from './epochs.js';

const RESTARTS = 5;
const PAUSE_MS = 150;
const TRUST = { ca: AUTHORITY, servername: 'server.test', host: '127.0.0.1' };
const text = (inline_string: string): object => ({ inline_string });

/** HTTPS that says hello; `fields` of its context. */
function secureBootstrap(fields: object): object {
  const web = JSON.parse(JSON.stringify(webBootstrap([says('/', 'hello')]))) as {
    static_resources: { listeners: { filter_chains: { transport_socket?: object }[] }[] };
  };
  const chain = web.static_resources.listeners[0]?.filter_chains[0];
  assert.ok(chain);
  chain.transport_socket = {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
      ...fields,
      common_tls_context: {
        tls_certificates: [
          { certificate_chain: text(SERVER_CERTIFICATE), private_key: text(SERVER_KEY) },
        ],
      },
    },
  };
  return web;
}

interface Sent {
  requests: number;
  readonly failures: string[];
}

/** Clients that ask one after the other until they are told to stop, and note all that goes wrong. */
function load(t: TestContext, port: number, clients: number, keepAlive: boolean) {
  const sent: Sent = { requests: 0, failures: [] };
  let isStopped = false;
  t.after(() => (isStopped = true));
  const client = async (): Promise<void> => {
    const agent = new Agent({ ...TRUST, keepAlive, maxSockets: 1 });
    while (!isStopped) {
      try {
        const asked = request({ ...TRUST, port, agent, path: '/' });
        asked.end();
        const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
        let body = '';
        for await (const chunk of answer) body += String(chunk);
        if (body !== 'hello') sent.failures.push(`body '${body}'`);
      } catch (error) {
        sent.failures.push(String(error));
      }
      sent.requests += 1;
    }
    agent.destroy();
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  return {
    stop: async (): Promise<Sent> => {
      isStopped = true;
      await all;
      return sent;
    },
  };
}

/** One request on a connection of its own: whether it resumed, and a session for the next. */
async function visit(port: number, session?: Buffer): Promise<{ reused: boolean; ticket: Buffer }> {
  const socket = connect({ ...TRUST, port, ...(session && { session }) });
  // Where there is no new one, the old one is still good.
  let ticket = session;
  socket.on('session', (latest: Buffer) => (ticket = latest));
  const closed = once(socket, 'close');
  await once(socket, 'secureConnect');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  socket.resume();
  const reused = socket.isSessionReused();
  await closed;
  assert.ok(ticket);
  return { reused, ticket };
}

const QUICK = ['--drain-time-s', '1', '--parent-shutdown-time-s', '2', '-l', 'warning'];

test(`${RESTARTS} restarts under load over TLS: nothing fails, and tickets go on`, async (t) => {
  const keys = [{ inline_bytes: Buffer.alloc(80, 'k').toString('base64') }];
  const epochs = new Epochs(t, secureBootstrap({ session_ticket_keys: { keys } }), ...QUICK);
  let current = await epochs.start(0, '--concurrency', '2');
  const port = await listenerPort(current.adminUrl, 'web');
  const loads = [load(t, port, 3, true), load(t, port, 3, false)];
  let { ticket } = await visit(port);
  for (let epoch = 1; epoch <= RESTARTS; epoch += 1) {
    const before = current;
    current = await epochs.start(epoch, '--concurrency', String(1 + (epoch % 2)));
    await sleep(PAUSE_MS);
    const again = await visit(port, ticket);
    assert.equal(again.reused, true, `epoch ${epoch}`);
    ticket = again.ticket;
    assert.equal((await before.command.ended).code, 0);
  }
  for (const { requests, failures } of await Promise.all(loads.map((one) => one.stop()))) {
    assert.deepEqual(failures, []);
    assert.ok(requests > 10 * RESTARTS, `${requests} requests`);
  }
});

test('without keys of the configuration a session ends with the process that made it', async (t) => {
  const epochs = new Epochs(t, secureBootstrap({}), ...QUICK);
  const first = await epochs.start(0);
  const port = await listenerPort(first.adminUrl, 'web');
  const { ticket } = await visit(port);
  assert.equal((await visit(port, ticket)).reused, true);
  await epochs.start(1);
  await first.command.ended;
  assert.equal((await visit(port, ticket)).reused, false);
});
