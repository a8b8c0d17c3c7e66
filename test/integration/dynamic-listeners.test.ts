// Listeners that come from a file: added, changed and removed while clients are connected.
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_ONLY, cluster, says, toCluster, webRoutes } from './support/bootstraps.js';
import {
  listenerResource,
  managerFilter,
  rdsChain,
  saying,
  sayingChain,
} from './support/listeners.js';
import {
  clusterResource,
  fileSource,
  putResources,
  putText,
  routeResource,
} from './support/resources.js';
import { makeFolder, runCommand, startProxy, type StartedProxy } from './support/start-proxy.js';
import { Epochs } from './hot-restart/epochs.js';
import { freePort, until } from './support/waits.js';
import { statText, untilStat } from './support/stats.js';

type Message = Readonly<Record<string, unknown>>;

const ldsBootstrap = (source: Message, more: Message = {}): Message => ({
  ...ADMIN_ONLY,
  node: { id: 'test', cluster: 'test' },
  dynamic_resources: { lds_config: source, ...more },
});

const manager = (name: string): string => `listener_manager.${name}`;

interface DynamicListener {
  readonly name?: string;
  readonly active_state?: { readonly version_info: string; readonly listener: Message };
  readonly draining_state?: { readonly version_info: string };
  readonly error_state?: { readonly details: string; readonly failed_configuration: Message };
}

async function dump(proxy: StartedProxy): Promise<readonly DynamicListener[]> {
  const page = await fetch(`${proxy.adminUrl}/config_dump?resource=dynamic_listeners`);
  return ((await page.json()) as { configs?: readonly DynamicListener[] }).configs ?? [];
}

async function routeNames(proxy: StartedProxy): Promise<readonly string[]> {
  const page = await fetch(`${proxy.adminUrl}/config_dump?resource=static_route_configs`);
  const { configs = [] } = (await page.json()) as {
    configs?: readonly { readonly route_config: { readonly name: string } }[];
  };
  return configs.map(({ route_config: { name } }) => name).sort();
}

/** A connection that is kept. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;

  constructor(t: TestContext, port: number) {
    this.#port = port;
    t.after(() => this.#agent.destroy());
  }

  /** The text, and whether the client was asked to leave. */
  async ask(): Promise<readonly [text: string, leaves: boolean]> {
    const request = get({ host: '127.0.0.1', port: this.#port, agent: this.#agent });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const part of answer) text += String(part);
    assert.equal(answer.statusCode, 200);
    return [text, answer.headers.connection === 'close'];
  }
}

/** On a connection of its own. */
async function textAt(port: number): Promise<string> {
  const request = get({ host: '127.0.0.1', port, agent: false });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of answer) text += String(part);
  return text;
}

/** Workers take up an update when they come to it. */
async function untilText(port: number, text: string): Promise<void> {
  await until(async () => (await textAt(port)) === text);
}

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const [event] = await Promise.race([
    once(socket, 'connect').then(() => ['connect']),
    once(socket, 'error').then(() => ['error']),
  ]).catch(() => ['error']);
  socket.destroy();
  return event === 'error';
}

const SLOW = ['--drain-time-s', '600', '--drain-strategy', 'immediate'] as const;
const QUICK = ['--drain-time-s', '1', '--drain-strategy', 'immediate'] as const;

test('what only changes in its filter chains keeps sockets and untouched connections', async (t) => {
  const file = join(makeFolder(t), 'lds.json');
  const port = await freePort();
  const nowhere = { filter_chain_match: { source_ports: [1] } };
  const one = (...chains: readonly Message[]): void =>
    putResources(file, `v${chains.length}`, [listenerResource('one', port, chains)]);
  one(sayingChain('one', 'first'));
  const proxy = await startProxy(t, ldsBootstrap(fileSource(file)), ...SLOW);
  const kept = new Client(t, port);
  assert.deepEqual(await kept.ask(), ['first', false]);

  one(sayingChain('one', 'first'), sayingChain('other', 'unused', nowhere));
  await untilStat(proxy, manager('lds.update_success'), 2);
  assert.deepEqual(await kept.ask(), ['first', false]);
  assert.equal(await statText(proxy, manager('listener_in_place_updated')), '1');
  assert.equal(await statText(proxy, manager('total_listeners_draining')), '0');
  assert.deepEqual(await routeNames(proxy), ['one-first', 'other-unused']);

  one(sayingChain('one', 'second'), sayingChain('other', 'unused', nowhere));
  await untilStat(proxy, manager('total_filter_chains_draining'), 1);
  assert.deepEqual(await kept.ask(), ['first', true]);
  await untilText(port, 'second');
  assert.deepEqual(await routeNames(proxy), ['one-first', 'one-second', 'other-unused']);
  const [shown] = await dump(proxy);
  // As the real server: under the version that it came with.
  assert.equal(shown?.active_state?.version_info, 'v1');
  assert.equal(shown?.draining_state, undefined);
  assert.equal(await statText(proxy, manager('listener_modified')), '2');
  assert.equal(await statText(proxy, manager('listener_added')), '1');
});

test('any other change replaces a listener; what was replaced or removed drains, and ends', async (t) => {
  const file = join(makeFolder(t), 'lds.json');
  const [port, other] = [await freePort(), await freePort()];
  putResources(file, 'v1', [saying('one', port, 'first'), saying('two', other, 'other')]);
  const proxy = await startProxy(
    t,
    ldsBootstrap(fileSource(file)),
    ...['--drain-time-s', '2', '--drain-strategy', 'immediate', '--concurrency', '2'],
  );
  const [before, leaving] = [new Client(t, port), new Client(t, other)];
  await before.ask();
  await leaving.ask();
  const idle = connect(port, '127.0.0.1');
  await once(idle, 'connect');
  await untilStat(proxy, `listener.127.0.0.1_${port}.downstream_cx_active`, 2);

  const changed = { traffic_direction: 'INBOUND' };
  putResources(file, 'v2', [saying('one', port, 'second', changed)]);
  await untilStat(proxy, manager('lds.update_success'), 2);
  const [one, two] = await dump(proxy);
  assert.equal(one?.active_state?.version_info, 'v2');
  assert.equal(one?.draining_state?.version_info, 'v1');
  assert.equal(two?.name, 'two');
  assert.equal(two.active_state, undefined);
  assert.equal(two.draining_state?.version_info, 'v1');
  assert.equal(await statText(proxy, manager('total_listeners_draining')), '2');
  assert.equal(await statText(proxy, manager('listener_removed')), '1');
  assert.deepEqual(await before.ask(), ['first', true]);
  assert.deepEqual(await leaving.ask(), ['other', true]);
  await untilText(port, 'second');
  await until(() => isRefused(other));
  const listeners = await (await fetch(`${proxy.adminUrl}/listeners`)).text();
  assert.equal(listeners, `one::127.0.0.1:${port}\n`);

  await once(idle, 'close');
  await untilStat(proxy, manager('total_listeners_draining'), 0);
  assert.deepEqual(
    (await dump(proxy)).map(({ name, draining_state }) => [name, draining_state]),
    [['one', undefined]],
  );
  assert.deepEqual(await routeNames(proxy), ['one-second']);
  // Nothing is left of the one that was removed.
  assert.equal(await statText(proxy, `listener.127.0.0.1_${other}.downstream_cx_total`), undefined);
});

test('a listener that is wrong is refused and named, and the others of its update are taken', async (t) => {
  const file = join(makeFolder(t), 'lds.yaml');
  const [port, other] = [await freePort(), await freePort()];
  putResources(file, 'v1', [saying('one', port, 'first')]);
  const proxy = await startProxy(t, ldsBootstrap(fileSource(file)), ...QUICK, '-l', 'info');

  const noSuchCluster = managerFilter('bad', {
    route_config: webRoutes([toCluster('/', 'nobody')]),
  });
  putResources(file, 'v2', [
    saying('one', port, 'bad', { enable_reuse_port: false }),
    saying('two', other, 'other'),
    saying('two', other, 'again'),
    saying('dup', port, 'dup'),
    listenerResource('unknown', await freePort(), [{ filters: [noSuchCluster] }]),
    saying('elsewhere', 1, 'x', {
      address: { socket_address: { address: '192.0.2.1', port_value: 5 } },
    }),
  ]);
  await untilStat(proxy, manager('lds.update_rejected'), 1);
  await untilText(port, 'first');
  await untilText(other, 'other');
  const all = await dump(proxy);
  const details = Object.fromEntries(
    all.flatMap(({ name, error_state: error }) => (name && error ? [[name, error.details]] : [])),
  );
  assert.equal(details['one'], 'Listener one: reuse port cannot be changed during an update');
  assert.match(details['dup'] ?? '', /'dup' has duplicate address '127\.0\.0\.1:\d+' as existing/);
  assert.match(details['unknown'] ?? '', /unknown cluster 'nobody'/);
  assert.equal(details['elsewhere'], "cannot bind '192.0.2.1:5': Cannot assign requested address");
  assert.equal(details['two'], undefined);
  assert.ok(
    all.some(({ error_state: error }) => error?.details === 'duplicate listener two found'),
  );
  assert.equal(await statText(proxy, manager('listener_create_failure')), '1');
  assert.equal(await statText(proxy, manager('total_listeners_active')), '2');
  const { stderr } = proxy.command;
  // Which file, which field.
  assert.match(
    stderr,
    /lds\.yaml:\d+:\d+: resources\[4\]\.filter_chains\[0\]\.filters\[0\].*nobody/,
  );

  putResources(file, 'v3', [saying('one', port, 'second'), saying('two', other, 'other')]);
  await untilStat(proxy, manager('lds.update_success'), 2);
  await untilText(port, 'second');
  assert.ok((await dump(proxy)).every(({ error_state: error }) => error === undefined));
  putText(file, 'nonsense: [');
  await untilStat(proxy, manager('lds.update_failure'), 1);
  await untilText(port, 'second');
});

test('routes of a listener come before it takes connections, and go with it', async (t) => {
  const folder = makeFolder(t);
  const [file, routes] = [join(folder, 'lds.json'), join(folder, 'rds.json')];
  const port = await freePort();
  putResources(routes, 'r1', [routeResource(webRoutes([says('/', 'routes')]))]);
  putResources(file, 'v1', []);
  const proxy = await startProxy(t, ldsBootstrap(fileSource(file)), ...QUICK);
  assert.equal(await (await fetch(`${proxy.adminUrl}/listeners`)).text(), '');

  const web = (more: Message = {}): Message =>
    listenerResource('web', port, [rdsChain('web', routes)], more);
  putResources(file, 'v2', [web()]);
  await untilStat(proxy, manager('lds.update_success'), 2);
  await untilText(port, 'routes');
  assert.equal(await (await fetch(`${proxy.adminUrl}/init_dump`)).text(), '{}\n');
  assert.equal(await statText(proxy, 'http.web.rds.web.update_success'), '1');
  putResources(routes, 'r2', [routeResource(webRoutes([says('/', 'changed')]))]);
  await untilStat(proxy, 'http.web.rds.web.update_success', 2);
  await untilText(port, 'changed');
  // Its successor shares them.
  putResources(file, 'v3', [web({ traffic_direction: 'OUTBOUND' })]);
  await untilStat(proxy, manager('lds.update_success'), 3);
  await untilText(port, 'changed');
  await untilStat(proxy, manager('total_listeners_draining'), 0);
  await untilText(port, 'changed');
  assert.equal(await statText(proxy, 'http.web.rds.web.update_attempt'), '2');

  putResources(file, 'v4', []);
  await until(async () => (await statText(proxy, 'http.web.rds.web.update_success')) === undefined);
  putResources(file, 'v5', [web()]);
  await untilStat(proxy, manager('lds.update_success'), 5);
  await untilText(port, 'changed');
});

test('folders behind a link are swapped; clusters and listeners of one update find each other', async (t) => {
  const folder = makeFolder(t);
  const port = await freePort();
  const write = (version: string, target: string): void => {
    mkdirSync(join(folder, version));
    const clusters = [clusterResource(cluster(target, 1))];
    writeFileSync(
      join(folder, version, 'cds.json'),
      JSON.stringify({ version_info: version, resources: clusters }),
    );
    const routes = webRoutes([says('/', version), toCluster('/x', target)]);
    const chain = { filters: [managerFilter('one', { route_config: routes })] };
    const resources = [listenerResource('one', port, [chain])];
    writeFileSync(
      join(folder, version, 'lds.json'),
      JSON.stringify({ version_info: version, resources }),
    );
  };
  const swap = (version: string): void => {
    symlinkSync(version, join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'current'));
  };
  write('v1', 'a');
  swap('v1');
  const current = (name: string): Message => fileSource(join(folder, 'current', name), folder);
  await startProxy(t, ldsBootstrap(current('lds.json'), { cds_config: current('cds.json') }));
  await untilText(port, 'v1');
  write('v2', 'b');
  swap('v2');
  await untilText(port, 'v2');
});

test('through 60 changes under load no client is refused, and none but those asked to leave is cut', async (t) => {
  const file = join(makeFolder(t), 'lds.json');
  const port = await freePort();
  const put = (round: number): void =>
    putResources(file, `v${round}`, [
      listenerResource(
        'one',
        port,
        [sayingChain('one', `text${round}`)],
        round % 3 === 0 ? { per_connection_buffer_limit_bytes: 1_000_000 + round } : {},
      ),
      saying('two', 0, `${round}`),
    ]);
  put(0);
  const proxy = await startProxy(
    t,
    ldsBootstrap(fileSource(file)),
    ...['--concurrency', '2', '--drain-time-s', '30', '--drain-strategy', 'immediate'],
  );
  let isOver = false;
  const clients = [1, 2, 3, 4].map(async () => {
    let count = 0;
    while (!isOver) {
      const client = new Client(t, port);
      for (let leaves = false; !leaves && !isOver; count++) [, leaves] = await client.ask();
    }
    return count;
  });
  for (let round = 1; round <= 60; round++) {
    put(round);
    await untilStat(proxy, manager('lds.update_success'), round + 1);
  }
  isOver = true;
  assert.ok((await Promise.all(clients)).every((count) => count > 0));
  await untilText(port, 'text60');
});

test('stopped listeners stay as they are; the next epoch has those that have come', async (t) => {
  const file = join(makeFolder(t), 'lds.json');
  const port = await freePort();
  putResources(file, 'v1', []);
  const epochs = new Epochs(t, ldsBootstrap(fileSource(file)), '--drain-time-s', '600');
  const first = await epochs.start(0);
  putResources(file, 'v2', [saying('one', port, 'first')]);
  await until(async () => !(await isRefused(port)));
  const client = new Client(t, port);
  await client.ask();
  let isOver = false;
  const asking = (async () => {
    while (!isOver) assert.match(await textAt(port), /first|second/);
  })();
  const second = await epochs.start(1);
  putResources(file, 'v3', [saying('one', port, 'second')]);
  await until(async () => (await textAt(port)) === 'second');
  isOver = true;
  await asking;
  assert.deepEqual((await client.ask())[0], 'first');
  // Until then its sockets are open: it may have to take them back.
  await first.command.end();
  await fetch(`${second.adminUrl}/drain_listeners`, { method: 'POST' });
  await until(() => isRefused(port));
  putResources(file, 'v4', [saying('one', port, 'third')]);
  await sleep(200);
  assert.equal(await isRefused(port), true);
  await second.command.end();
});

test('a bootstrap whose listeners come from nowhere is refused, but only by a start', async (t) => {
  const yaml = JSON.stringify(ldsBootstrap(fileSource('/no/such')));
  const validated = await runCommand(t, '--mode', 'validate', '--config-yaml', yaml);
  assert.equal(validated.code, 0);
  const { code, stderr } = await runCommand(t, '--use-dynamic-base-id', '--config-yaml', yaml);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /dynamic_resources\.lds_config\.path_config_source\.path.*'\/no\/such' does not exist/s,
  );
});
