// All that a proxy meets in bad weather, at once, with an addon that tells of every wrong access: requests
// as they should be, cut ones, slow ones, noise; hosts that reset, stall and talk nonsense; updates of
// everything that can be updated; admin pages; a drain and an end in the midst of it.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { listens } from '../integration/support/meshes.js';
import { randomFrom } from '../integration/support/random.js';
import {
  clusterResource,
  endpointResource,
  putResources,
  routeResource,
} from '../integration/support/resources.js';
import {
  listenerPort,
  makeFolder,
  startProxy,
  type StartedProxy,
} from '../integration/support/start-proxy.js';
import { cuttingClient, garbageClient, slowClient, unluckyClient } from './bad-clients.js';
import { relayClient, webClient, type Exchange, type Place } from './good-clients.js';
import { startBadHttp2Origin } from './bad-http2-origin.js';
import { framesClient, leavingClient, multiplexedClient } from './http2-clients.js';
import {
  startBadOrigin,
  startEchoOrigin,
  startGoodOrigin,
  startHttp2Origin,
  startSecureOrigin,
} from './origins.js';
import { below, pick } from './random.js';
import { REPORTED, assertIsSanitized, faultsIn, sanitizedCommand } from './sanitized.js';
import {
  bootstrapOf,
  clustersOf,
  hostsOf,
  listenersOf,
  routesOf,
  type Origins,
} from './setting.js';
import { until } from '../integration/support/waits.js';

const SEED = Number(process.env.FAIRLEAD_CHAOS_SEED ?? 1);
const SECONDS = Number(process.env.FAIRLEAD_CHAOS_SECONDS ?? 12);
const UPDATE_PAUSE_MS = 100;

const PAGES = (
  '/ /help /certs /clusters /clusters?format=json /listeners /memory /server_info /ready ' +
  '/contention /runtime /config_dump /config_dump?include_eds /init_dump /stats?format=json ' +
  '/stats?usedonly /stats/prometheus /stats/recentlookups /hot_restart_version'
).split(' ');

/** Who goes on until told to stop. */
class Crowd {
  readonly failures: string[] = [];
  count = 0;
  readonly #running: Promise<void>[] = [];
  #isStopped = false;

  /** Whatever becomes of the story, it ends. */
  constructor(t: TestContext) {
    t.after(() => {
      this.#isStopped = true;
    });
  }

  /** Each has chance of its own: it does the same whatever the others do. */
  add(seed: number, exchange: Exchange): void {
    const random = randomFrom(SEED * 1000 + seed);
    const run = async (): Promise<void> => {
      while (!this.#isStopped) {
        await exchange(random).catch((error: unknown) => {
          if (!this.#isStopped) this.failures.push(String(error));
        });
        this.count += 1;
      }
      exchange.end?.();
    };
    this.#running.push(run());
  }

  /** Lets what is under way finish: it counts as long as `stop` is not called. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((done) => server.once('listening', done))));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

interface Setting {
  readonly folder: string;
  readonly origins: Origins;
  /** Of `steady`, then of those that come and go. None: those listeners are not there yet. */
  readonly ports: readonly number[];
}

type Kind = 'lds' | 'cds' | 'rds' | 'eds';

function put({ folder, origins, ports }: Setting, kind: Kind, version: number): void {
  const type = 'type.googleapis.com/envoy.config.listener.v3.Listener';
  const resources = {
    lds: () =>
      (ports.length > 0 ? listenersOf(folder, ports, version) : []).map((one) => ({
        '@type': type,
        ...one,
      })),
    cds: () => clustersOf(folder, origins, version).map(clusterResource),
    rds: () => [routeResource(routesOf(version))],
    eds: () => [endpointResource('good', hostsOf(origins, version))],
  };
  putResources(join(folder, `${kind}.json`), `v${version}`, resources[kind]());
}

function updates(setting: Setting): Exchange {
  let version = 0;
  return async (random) => {
    const kinds = ['lds', 'cds', 'rds', 'eds', 'eds'] as const;
    put(setting, pick(random, kinds), ++version);
    await sleep(below(random, 2 * UPDATE_PAUSE_MS));
  };
}

function pages(adminUrl: string): Exchange {
  return async (random) => {
    const isChange = below(random, 10) === 0;
    const page = isChange ? '/runtime_modify?chaos=1' : pick(random, PAGES);
    const answer = await fetch(adminUrl + page, { method: isChange ? 'POST' : 'GET' });
    await answer.text();
    if (answer.status !== 200) throw new Error(`${page}: ${answer.status}`);
    await sleep(20);
  };
}

async function startAll(t: TestContext): Promise<readonly [StartedProxy, Setting]> {
  const folder = makeFolder(t);
  mkdirSync(join(folder, 'reports'));
  const before: Setting = {
    folder,
    ports: [],
    origins: {
      good: [await startGoodOrigin(t), await startGoodOrigin(t)],
      secure: await startSecureOrigin(t),
      bad: await startBadOrigin(t, randomFrom(SEED)),
      http2: await startHttp2Origin(t),
      badHttp2: await startBadHttp2Origin(t, randomFrom(SEED + 1)),
      echo: await startEchoOrigin(t),
    },
  };
  for (const kind of ['lds', 'cds', 'rds', 'eds'] as const) put(before, kind, 0);
  process.env.FAIRLEAD_TEST_COMMAND = sanitizedCommand(join(folder, 'reports'));
  const proxy = await startProxy(
    t,
    bootstrapOf(folder, before.origins),
    ...['--concurrency', '2', '--drain-time-s', '5', '--drain-strategy', 'immediate'],
    ...['-l', 'warning', '--file-flush-interval-msec', '100'],
  );
  assertIsSanitized(proxy.command.process.pid);
  // Ports that were free before could be given to the bootstrap's listeners, and be shared with them.
  const setting = { ...before, ports: await freePorts(4) };
  put(setting, 'lds', 0);
  await until(() => listens(proxy, 'steady'));
  return [proxy, setting];
}

async function placesOf({ adminUrl }: StartedProxy, { ports }: Setting) {
  const place = async (name: string): Promise<Place> => ({
    port: await listenerPort(adminUrl, name),
    isSecure: name.includes('secure'),
  });
  return {
    plain: await place('plain'),
    secure: await place('secure'),
    relay: await place('relay'),
    secureRelay: await place('secure-relay'),
    steady: { port: ports[0] ?? 0, isSecure: false },
    extra: ports.slice(1).map((port, index) => ({ port, isSecure: index === 0 })),
  };
}

type Places = Awaited<ReturnType<typeof placesOf>>;

function addGood(crowd: Crowd, { plain, secure, relay, secureRelay, steady }: Places): void {
  const prefixes = ['/good', '/good', '/good/mirrored', '/secure', '/http2'];
  const exchanges = [
    ...[true, true, true, false].map((keepAlive) => webClient(plain, prefixes, keepAlive)),
    ...[true, true, false].map((keepAlive) => webClient(secure, prefixes, keepAlive)),
    webClient(steady, prefixes, false),
    ...[true, true, false].map((keepAlive) => multiplexedClient(plain, prefixes, keepAlive)),
    ...[true, false].map((keepAlive) => multiplexedClient(secure, prefixes, keepAlive)),
    multiplexedClient(steady, prefixes, false),
    relayClient(relay),
    relayClient(secureRelay),
  ];
  for (const [index, exchange] of exchanges.entries()) crowd.add(index, exchange);
}

async function addBad(crowd: Crowd, places: Places): Promise<void> {
  const web = [places.plain, places.secure, places.steady];
  const all = [...web, places.relay, places.secureRelay, ...places.extra];
  const garbage = await garbageClient(all);
  const exchanges = [
    ...[1, 2, 3].map(() => cuttingClient(all)),
    ...[1, 2, 3].map(() => slowClient(web)),
    ...[1, 2, 3].map(() => garbage),
    ...[1, 2, 3, 4].map(() => unluckyClient([places.plain, places.secure])),
    ...[1, 2].map(() => leavingClient(web)),
    ...[1, 2, 3].map(() => framesClient([places.plain, places.steady])),
  ];
  for (const [index, exchange] of exchanges.entries()) crowd.add(100 + index, exchange);
}

/** The gauges of all scopes but the admin server's, which is being asked, that are not 0. */
async function left(adminUrl: string, gauge: RegExp): Promise<readonly string[]> {
  const page = await (await fetch(`${adminUrl}/stats`)).text();
  const lines = page.split('\n').filter((line) => gauge.test(line.split(':')[0] ?? ''));
  return lines.filter((line) => !line.endsWith(': 0') && !/^(http|listener)\.admin\./.test(line));
}

/** Once clients have gone, nothing is left of their requests. */
async function untilNone(adminUrl: string, gauge: RegExp): Promise<void> {
  const end = Date.now() + 20_000;
  let seen = await left(adminUrl, gauge);
  while (seen.length > 0 && Date.now() < end) {
    await sleep(50);
    seen = await left(adminUrl, gauge);
  }
  assert.deepEqual(seen, []);
}

/** What the proxy itself has logged of good requests (none is of a host "a") that went wrong. */
function loggedFailures({ folder }: Setting): readonly string[] {
  const lines = readFileSync(join(folder, 'access.log'), 'utf8').split('\n');
  const isWrong = /"(GET|POST) \/(good|secure|http2)\/\S* HTTP\/[12](\.1)?" (?!200 - )/;
  return lines.filter((line) => isWrong.test(line) && !line.includes('" "a" "'));
}

const isAlive = ({ command: { process: child } }: StartedProxy): boolean =>
  child.exitCode === null && child.signalCode === null;

test(`nothing is accessed that should not be, and no good request fails (seed ${SEED})`, async (t) => {
  const [proxy, setting] = await startAll(t);
  const places = await placesOf(proxy, setting);
  const reports = join(setting.folder, 'reports');

  const [good, bad] = [new Crowd(t), new Crowd(t)];
  addGood(good, places);
  await addBad(bad, places);
  bad.add(200, updates(setting));
  good.add(201, pages(proxy.adminUrl));
  const isOver = Date.now() + SECONDS * 1000;
  while (Date.now() < isOver && isAlive(proxy)) await sleep(100);
  if (!isAlive(proxy)) {
    const { code, signal, stderr } = await proxy.command.ended;
    assert.fail(`it ended: ${code} ${signal}\n${stderr.slice(-5000)}\n${faultsIn(reports).join()}`);
  }
  await Promise.all([good.stop(), bad.stop()]);
  assert.deepEqual(faultsIn(reports), []);
  const failures = [...good.failures, ...bad.failures];
  if (failures.length > 0) failures.push(...loggedFailures(setting));
  assert.deepEqual(failures, []);
  t.diagnostic(`${good.count} good exchanges, ${bad.count} others`);
  assert.ok(good.count > SECONDS, `only ${good.count} exchanges in ${SECONDS} s`);
  await untilNone(proxy.adminUrl, /rq_active$/);
  await untilNone(proxy.adminUrl, /^(http|tcp)\..*downstream_cx_active$/);
  await untilNone(proxy.adminUrl, /_rq_pending_active$/);

  // The end: in the midst of everything. Who is cut then may say so.
  const last = new Crowd(t);
  addGood(last, places);
  await addBad(last, places);
  await sleep(1000);
  await fetch(`${proxy.adminUrl}/drain_listeners?graceful`, { method: 'POST' });
  await sleep(500);
  const { code, signal, stderr } = await proxy.command.end('SIGTERM');
  await last.stop();
  assert.deepEqual(faultsIn(reports), []);
  assert.ok(code === 0 || code === REPORTED, `it ended with ${signal ?? code}:\n${stderr}`);
});
