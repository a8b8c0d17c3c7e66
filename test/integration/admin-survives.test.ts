// Odd requests, made from a seed: each gets an answer, and afterwards the server is as it was.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { says, webBootstrap } from './support/bootstraps.js';
import { randomFrom } from './support/random.js';
import { startProxy } from './support/start-proxy.js';
import { closing } from '../unit/support/closing.js';

const REQUESTS = Number(process.env.FAIRLEAD_ODD_REQUESTS ?? 1000);
const SEED = Number(process.env.FAIRLEAD_SEED ?? 20_261_121);
const ANSWER_MS = 10_000;

// Not those that end the server, stop its listeners, or stream for ever.
const PATHS = (
  '/ /help /certs /clusters /listeners /memory /server_info /ready /hot_restart_version ' +
  '/contention /heap_dump /runtime /config_dump /init_dump /stats /stats/prometheus ' +
  '/stats/recentlookups /stats/recentlookups/enable /stats/recentlookups/disable ' +
  '/stats/recentlookups/clear /reset_counters /cpuprofiler /heapprofiler /healthcheck/ok ' +
  '/healthcheck/fail /logging /runtime_modify /reopen_logs /tap /nothing'
).split(' ');
const METHODS = 'GET GET GET GET POST POST POST HEAD PUT DELETE OPTIONS TRACE PATCH FOO get'.split(
  ' ',
);
const NAMES = (
  'format filter usedonly hidden type histogram_buckets text_readouts invert_filter resource mask ' +
  'name_regex include_eds enable level paths group graceful a.b x'
).split(' ');
const VALUES = [
  ...['', 'json', 'text', 'prometheus', 'html', 'active-html', 'y', 'n', 'only', 'include', 'All'],
  ...[
    'static_clusters',
    'bootstrap',
    'bootstrap.node.id',
    'cluster.name',
    'cumulative',
    'detailed',
  ],
  ...[
    '[',
    '(a+)+$',
    '.*',
    '(?i)x',
    '\\p{Greek}',
    '%ff%fe',
    '%00',
    '%',
    '%zz',
    '%e2%82%ac',
    'a%26b',
  ],
  ...['<script>', '__proto__', 'constructor', '{a: [', '*x', '!!js/function x', '../../etc/passwd'],
  ...['a'.repeat(5000), '9'.repeat(400), '[[:foo:]]', 'http=debug', 'x:y:z', '%F0%9F%92%A9'],
];
const BODIES = ['', '', '', '{', 'a=b&c=%ff', '\u0000\u00ff', 'level=bogus', 'x'.repeat(20_000)];
const HEADERS = [
  '',
  '',
  'content-type: application/x-www-form-urlencoded\r\n',
  'accept-encoding: gzip, br\r\n',
  'expect: 100-continue\r\n',
  `x-long: ${'v'.repeat(4000)}\r\n`,
  'x-odd: \u00ff\u00fe\r\n',
];

function oddRequest(random: () => number): string {
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? '';
  const pairs = Array.from({ length: Math.floor(random() * 4) }, () =>
    random() < 0.2 ? pick(NAMES) : `${pick(NAMES)}=${pick(VALUES)}`,
  );
  const spelled = random() < 0.1 ? `${pick(PATHS)}/${pick(VALUES)}` : pick(PATHS);
  const path = spelled.replaceAll(' ', '%20').replace(/[^\x21-\x7e]/g, '%3F');
  const query = pairs.length > 0 ? `?${pairs.join('&').replaceAll(' ', '%20')}` : '';
  const body = pick(BODIES);
  const length = body === '' ? '' : `content-length: ${Buffer.byteLength(body, 'latin1')}\r\n`;
  const head = `${pick(METHODS)} ${path}${query} HTTP/1.1\r\nhost: localhost\r\n`;
  return `${head}${pick(HEADERS)}${length}connection: close\r\n\r\n${body}`;
}

/** The status of the answer, once all of it has come. */
async function statusOf(port: number, request: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // What is refused before it was read to its end may be reset.
  socket.on('error', () => undefined);
  socket.setTimeout(ANSWER_MS, () => socket.destroy());
  socket.write(request, 'latin1');
  await closing(socket);
  const text = Buffer.concat(chunks)
    .toString('latin1')
    .replace(/^HTTP\/1\.1 100 [^]*?\r\n\r\n/, '');
  const [, status = '0'] = /^HTTP\/1\.1 (\d+)/.exec(text) ?? [];
  return Number(status);
}

test('the admin server answers each of many odd requests, and is well afterwards', async (t) => {
  const random = randomFrom(SEED);
  const bootstrap = {
    ...webBootstrap([says('/', 'yes')], { origin: 1 }),
    layered_runtime: { layers: [{ name: 'admin', admin_layer: {} }] },
  };
  const proxy = await startProxy(t, bootstrap, '-l', 'off');
  const port = Number(new URL(proxy.adminUrl).port);
  for (let number = 0; number < REQUESTS; number++) {
    const request = oddRequest(random);
    const status = await statusOf(port, request);
    const isGood = status === 200 || (status >= 400 && status < 600);
    const shown = JSON.stringify(request.slice(0, 300));
    assert.ok(isGood, `request ${number} of seed ${SEED}: status ${status}: ${shown}`);
  }
  await fetch(`${proxy.adminUrl}/healthcheck/ok`, { method: 'POST' });
  assert.equal(await (await fetch(`${proxy.adminUrl}/ready`)).text(), 'LIVE\n');
  assert.equal(await (await fetch(await proxy.listenerUrl('web'))).text(), 'yes');
  assert.equal(proxy.command.process.exitCode, null);
});
