// What sinks get of all processes together: everything that was counted, once.
import assert from 'node:assert/strict';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { says, webBootstrap } from '../support/bootstraps.js';
import { listenerPort } from '../support/start-proxy.js';
import { Epochs } from './epochs.js';

const COUNTER = /^envoy\.http\.web\.downstream_rq_total:(\d+)\|c/gm;
const PATIENCE_MS = 5000;
const POLL_MS = 10;

class Statsd {
  total = 0;
  readonly #socket: UdpSocket = createSocket('udp4');

  async start(t: TestContext): Promise<number> {
    this.#socket.on('message', (bytes) => {
      for (const [, amount] of bytes.toString().matchAll(COUNTER)) this.total += Number(amount);
    });
    this.#socket.bind(0, '127.0.0.1');
    await once(this.#socket, 'listening');
    t.after(() => this.#socket.close());
    return this.#socket.address().port;
  }
}

async function ask(client: Socket): Promise<void> {
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(client, 'data');
}

test('a sink gets what every process counted, while they last and once', async (t) => {
  const statsd = new Statsd();
  const sinkAddress = { address: '127.0.0.1', port_value: await statsd.start(t) };
  const bootstrap = {
    ...webBootstrap([says('/', 'here')]),
    // Only takeovers and ends flush.
    stats_flush_interval: '299s',
    stats_sinks: [
      {
        name: 'envoy.stat_sinks.statsd',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.config.metrics.v3.StatsdSink',
          address: { socket_address: sinkAddress },
        },
      },
    ],
  };
  const patient = ['--drain-time-s', '600', '--parent-shutdown-time-s', '900', '-l', 'warning'];
  const epochs = new Epochs(t, bootstrap, ...patient);
  let current = await epochs.start(0);
  const port = await listenerPort(current.adminUrl, 'web');
  const clients: Socket[] = [];
  t.after(() => clients.forEach((client) => client.destroy()));
  let asked = 0;
  for (let epoch = 1; epoch <= 4; epoch += 1) {
    clients.push(connect(port, '127.0.0.1'));
    // Every process that is left goes on counting.
    for (const client of clients) await ask(client);
    asked += clients.length;
    if (epoch < 4) current = await epochs.start(epoch);
  }
  clients.forEach((client) => client.destroy());
  assert.equal((await current.command.end()).code, 0);
  const end = Date.now() + PATIENCE_MS;
  while (statsd.total < asked && Date.now() < end) await sleep(POLL_MS);

  assert.equal(statsd.total, asked);
});
