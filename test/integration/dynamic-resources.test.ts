// Routes and hosts that come from files, and change while the proxy runs.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ADMIN_ONLY,
  address,
  cluster,
  rdsBootstrap,
  says,
  toCluster,
  webBootstrap,
  webRoutes,
} from './support/bootstraps.js';
import {
  clusterResource,
  endpointResource,
  fileSource,
  putResources,
  putText,
  routeResource,
} from './support/resources.js';
import { listen, startOrigin } from './support/origin.js';
import { makeFolder, runCommand, startProxy, type StartedProxy } from './support/start-proxy.js';
import { statText, untilStat } from './support/stats.js';
import { until } from './support/waits.js';

type Message = Readonly<Record<string, unknown>>;

const edsCluster = (name: string, file: string): Message => ({
  name,
  type: 'EDS',
  eds_cluster_config: { service_name: `${name}-service`, eds_config: fileSource(file) },
});
const endpoint = (port: number, more: Message = {}): Message => ({
  endpoint: { address: address(port) },
  ...more,
});
const routesTo = (text: string): Message => routeResource(webRoutes([says('/', text)]));

/** A line of the log may come after what it tells of. */
async function untilSaid({ command }: StartedProxy, said: RegExp): Promise<void> {
  const end = Date.now() + 10_000;
  while (Date.now() < end && !said.test(command.stderr)) await sleep(10);
  assert.match(command.stderr, said);
}

async function dump(proxy: StartedProxy, query: string): Promise<readonly Message[]> {
  const page = (await (await fetch(`${proxy.adminUrl}/config_dump?${query}`)).json()) as {
    readonly configs?: readonly Message[];
  };
  return page.configs ?? [];
}

const textAt = async (url: string): Promise<string> => (await fetch(url)).text();

test('the body of a direct response is read again as something is moved into its folder', async (t) => {
  const folder = makeFolder(t);
  const filename = join(folder, 'page');
  writeFileSync(filename, 'one\nline');
  const body = { filename, watched_directory: { path: folder } };
  const respond = (prefix: string, more: Message): Message => ({
    ...{ match: { prefix }, direct_response: { status: 200, ...more } },
  });
  const format = { text_format_source: { inline_string: '<%LOCAL_REPLY_BODY%>' } };
  const proxy = await startProxy(
    t,
    webBootstrap([
      respond('/plain', { body: { filename } }),
      respond('/framed', { body, body_format: format }),
      respond('/', { body }),
    ]),
  );
  const url = await proxy.listenerUrl('web');
  const answer = await fetch(url);
  assert.equal(answer.headers.get('content-type'), 'text/plain');
  assert.equal(await answer.text(), 'one\nline');
  const become = (text: string): void => {
    writeFileSync(`${filename}.new`, text);
    renameSync(`${filename}.new`, filename);
  };
  become('two');
  await until(async () => (await textAt(url)) === 'two');
  assert.equal(await textAt(`${url}/framed`), '<two>');
  assert.equal(await textAt(`${url}/plain`), 'one\nline');
  become('');
  await until(async () => (await textAt(url)) === '');
  // What is too long is left alone.
  become('x'.repeat(4097));
  await untilSaid(proxy, /Failed to read file: .* has 4097 bytes/);
  assert.equal(await textAt(url), '');
});

test('a file is read again as something is written to in its folder, where that is asked for', async (t) => {
  const folder = makeFolder(t);
  const file = join(folder, 'rds.json');
  putResources(file, 'v1', [routesTo('one')]);
  writeFileSync(join(folder, 'other'), '');
  const source = (watch_modify: boolean): Message => ({
    resource_api_version: 'V3',
    path_config_source: { path: file, watched_directory: { path: folder, watch_modify } },
  });
  for (const watches of [false, true]) {
    const proxy = await startProxy(t, rdsBootstrap('web', source(watches)));
    writeFileSync(join(folder, 'other'), String(watches));
    const updates = async (): Promise<number> =>
      Number(await statText(proxy, 'rds.web.update_success'));
    if (watches) await until(async () => (await updates()) > 1, 'an update');
    else await sleep(200);
    assert.equal((await updates()) > 1, watches);
  }
});

test('a file that is looked at every so often is taken once, as long as it says the same', async (t) => {
  const file = join(makeFolder(t), 'eds.json');
  const hosts = (...ports: readonly number[]): Message =>
    endpointResource(
      'own',
      ports.map((port) => endpoint(port)),
    );
  putResources(file, 'v1', [hosts(1)]);
  const source = {
    resource_api_version: 'V3',
    path_config_source: { path: file, poll_interval: '0.05s' },
  };
  const own = { name: 'own', type: 'EDS', eds_cluster_config: { eds_config: source } };
  const node = { id: 'test', cluster: 'test' };
  const proxy = await startProxy(t, {
    ...{ ...ADMIN_ONLY, node, static_resources: { clusters: [own] } },
  });
  const updates = async (): Promise<number> =>
    Number(await statText(proxy, 'cluster.own.update_success'));
  await until(async () => (await updates()) > 4, 'some looks');
  assert.equal(await statText(proxy, 'cluster.own.update_no_rebuild'), '0');
  assert.equal(await statText(proxy, 'cluster.own.version_text'), '"v1"');
  putResources(file, 'v2', [hosts(1, 2)]);
  await untilStat(proxy, 'cluster.own.membership_total', 2);
  assert.equal(await statText(proxy, 'cluster.own.version_text'), '"v2"');
});

/** Asks on connections that are kept until it is told to end; rejects if an answer is not 200. */
async function askUntil(url: string, isOver: () => boolean): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let count = 0;
  while (!isOver()) {
    const [answer] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
    for await (const _ of answer);
    assert.equal(answer.statusCode, 200);
    count++;
  }
  agent.destroy();
  return count;
}

test('routes and hosts follow their files under load, and no request is lost', async (t) => {
  const folder = makeFolder(t);
  const [routes, hosts] = [join(folder, 'rds.json'), join(folder, 'eds.json')];
  const ports = [await startOrigin(t, 'one'), await startOrigin(t, 'two')] as const;
  const direct = { ...(edsCluster('direct', hosts) as object) };
  const route = (version: number): Message =>
    routeResource(webRoutes([toCluster('/', version % 2 ? 'direct' : 'other')]));
  putResources(routes, 'v0', [route(0)]);
  const otherHosts = join(folder, 'other.json');
  putResources(hosts, 'v0', [endpointResource('direct-service', [endpoint(ports[0])])]);
  putResources(otherHosts, 'v0', [
    endpointResource(
      'other-service',
      ports.map((port) => endpoint(port)),
    ),
  ]);
  const proxy = await startProxy(
    t,
    rdsBootstrap('web', fileSource(routes), [direct, edsCluster('other', otherHosts)]),
    ...['--concurrency', '2'],
  );
  const url = await proxy.listenerUrl('web');
  let over = false;
  const clients = [1, 2, 3, 4].map(() => askUntil(url, () => over));

  const rounds = 21;
  for (let round = 1; round <= rounds; round++) {
    const weight = 1 + (round % 3);
    const list = [endpoint(ports[round % 2 === 0 ? 0 : 1], { load_balancing_weight: weight })];
    putResources(hosts, `v${round}`, [endpointResource('direct-service', list)]);
    putResources(routes, `v${round}`, [route(round)]);
    await untilStat(proxy, 'http.web.rds.web.config_reload', round + 1);
    await untilStat(proxy, 'cluster.direct.update_success', round + 1);
  }
  over = true;
  const answers = await Promise.all(clients);

  assert.ok(answers.every((count) => count > 0));
  assert.equal(await statText(proxy, 'http.web.downstream_rq_5xx'), '0');
  assert.equal(await statText(proxy, 'http.web.rds.web.version_text'), `"v${rounds}"`);
  assert.equal(await textAt(url), 'two');
});

test('an update that is wrong is refused whole and counted, and the one before it goes on', async (t) => {
  const file = join(makeFolder(t), 'rds.yaml');
  putResources(file, 'v1', [routesTo('first')]);
  const proxy = await startProxy(t, rdsBootstrap('web', fileSource(file)));
  const url = await proxy.listenerUrl('web');
  const scope = 'http.web.rds.web.';
  assert.equal(await textAt(url), 'first');

  const twice = { name: 'v', domains: ['a', 'A'], routes: [says('/', 'bad')] };
  const wrongOnes: readonly (readonly [text: string, said: RegExp])[] = [
    [
      JSON.stringify({ resources: [routeResource({ name: 'web', virtual_hosts: [twice] })] }),
      /rds\.yaml:1:\d+: resources\[0\]\.virtual_hosts\[0\]\.domains\[1\]: Only unique values for domains/,
    ],
    [
      JSON.stringify({ resources: [routeResource(webRoutes([], 'other'))] }),
      /Unexpected RDS configuration \(expecting web\): other/,
    ],
    [
      JSON.stringify({ resources: [routesTo('a'), routesTo('b')] }),
      /Unexpected RDS resource length: 2/,
    ],
    [
      JSON.stringify({ resources: [endpointResource('web', [])] }),
      /Unable to unpack as envoy\.config\.route\.v3\.RouteConfiguration/,
    ],
  ];
  for (const [index, [text, said]] of wrongOnes.entries()) {
    putText(file, text);
    await untilStat(proxy, `${scope}update_rejected`, index + 1);
    await untilSaid(proxy, said);
    assert.equal(await textAt(url), 'first');
  }
  putText(file, '{');
  await untilStat(proxy, `${scope}update_failure`, 1);
  assert.equal(await textAt(url), 'first');
  const [dumped] = await dump(proxy, 'resource=dynamic_route_configs');
  assert.equal(dumped?.['version_info'], 'v1');

  putResources(file, 'v7', [routesTo('last')]);
  await untilStat(proxy, `${scope}update_success`, 2);
  assert.equal(await textAt(url), 'last');
  assert.equal(await statText(proxy, `${scope}update_attempt`), '7');
  // XXH64 of "v7", as the real server has it.
  assert.match((await statText(proxy, `${scope}version`)) ?? '', /^\d{15,}$/);
});

test('a folder of Kubernetes is followed: its link is swapped, the file itself never changes', async (t) => {
  const folder = makeFolder(t);
  for (const version of ['v1', 'v2']) {
    mkdirSync(join(folder, version));
    const text = JSON.stringify({ version_info: version, resources: [routesTo(version)] });
    writeFileSync(join(folder, version, 'rds.json'), text);
  }
  symlinkSync('v1', join(folder, '..data'));
  symlinkSync('..data/rds.json', join(folder, 'rds.json'));
  const source = fileSource(join(folder, 'rds.json'), folder);
  const proxy = await startProxy(t, rdsBootstrap('web', source));
  const url = await proxy.listenerUrl('web');
  assert.equal(await textAt(url), 'v1');

  symlinkSync('v2', join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  await untilStat(proxy, 'http.web.rds.web.config_reload', 2);
  assert.equal(await textAt(url), 'v2');
});

test('hosts come, change and go as EDS says, and the admin pages say so', async (t) => {
  const folder = makeFolder(t);
  const [routes, hosts] = [join(folder, 'rds.json'), join(folder, 'eds.json')];
  const [one, two] = [await startOrigin(t, 'one'), await startOrigin(t, 'two')];
  putResources(routes, '', [routeResource(webRoutes([toCluster('/', 'moving')]))]);
  const put = (version: string, endpoints: readonly Message[]): void =>
    putResources(hosts, version, [endpointResource('moving-service', endpoints)]);
  put('v1', [endpoint(one, { load_balancing_weight: 3 }), endpoint(one)]);
  const proxy = await startProxy(
    t,
    rdsBootstrap('web', fileSource(routes), [edsCluster('moving', hosts)]),
  );
  const url = await proxy.listenerUrl('web');
  assert.equal(await textAt(url), 'one');
  assert.equal(await statText(proxy, 'cluster.moving.membership_total'), '1');
  assert.equal(await statText(proxy, 'cluster.moving.max_host_weight'), '3');

  put('v2', [endpoint(one, { health_status: 'UNHEALTHY' }), endpoint(two)]);
  await untilStat(proxy, 'cluster.moving.update_success', 2);
  assert.equal(await textAt(url), 'two');
  assert.equal(await statText(proxy, 'cluster.moving.membership_healthy'), '1');
  const clusters = await textAt(`${proxy.adminUrl}/clusters`);
  assert.match(clusters, new RegExp(`moving::127.0.0.1:${one}::health_flags::/failed_eds_health`));
  // The same host as before: its counter goes on.
  assert.match(clusters, new RegExp(`moving::127.0.0.1:${one}::rq_total::1\n`));
  const [dumped] = await dump(proxy, 'include_eds&resource=static_endpoint_configs');
  const assignment = dumped?.['endpoint_config'] as Message;
  assert.equal(assignment['cluster_name'], 'moving-service');

  put('v3', []);
  await untilStat(proxy, 'cluster.moving.membership_total', 0);
  const refused = await fetch(url);
  assert.equal(refused.status, 503);
  assert.equal(await refused.text(), 'no healthy upstream');
  put('v3', []);
  await untilStat(proxy, 'cluster.moving.update_no_rebuild', 1);
  put('v4', [endpoint(two)]);
  await untilStat(proxy, 'cluster.moving.membership_total', 1);
  assert.equal(await textAt(url), 'two');
});

test('clusters come, change and go as CDS says, under load', async (t) => {
  const folder = makeFolder(t);
  const [clusters, routes, hosts] = ['cds.json', 'rds.json', 'eds.json'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const port = await startOrigin(t, 'one');
  putResources(hosts, '', [endpointResource('found-service', [endpoint(port)])]);
  putResources(routes, '', [
    routeResource(webRoutes([toCluster('/found', 'found'), toCluster('/', 'dyn')])),
  ]);
  const put = (version: string, names: readonly Message[]): void =>
    putResources(clusters, version, names.map(clusterResource));
  const dyn = (seconds: number): Message => ({
    ...cluster('dyn', port),
    connect_timeout: `${seconds}s`,
  });
  const found = (seconds: number): Message => ({
    ...edsCluster('found', hosts),
    connect_timeout: `${seconds}s`,
  });
  put('v0', [dyn(1), found(1)]);
  const proxy = await startProxy(t, {
    ...rdsBootstrap('web', fileSource(routes)),
    dynamic_resources: { cds_config: fileSource(clusters) },
  });
  const url = await proxy.listenerUrl('web');
  let over = false;
  const clients = ['/', '/found'].map((path) => askUntil(url + path, () => over));
  for (let round = 1; round <= 15; round++) {
    put(`v${round}`, [dyn(1 + round), found(1 + round), cluster(`other${round}`, port)]);
    await untilStat(proxy, 'cluster_manager.cds.update_success', round + 1);
  }
  over = true;
  const answers = await Promise.all(clients);
  assert.ok(answers.every((count) => count > 0));
  assert.equal(await statText(proxy, 'cluster_manager.active_clusters'), '3');
  assert.equal(await statText(proxy, 'cluster_manager.cluster_removed'), '14');
  assert.match(await textAt(`${proxy.adminUrl}/clusters`), /^dyn::added_via_api::true$/m);
  const listed = await dump(proxy, 'resource=dynamic_active_clusters');
  assert.deepEqual(
    listed.map(({ version_info, cluster: one }) => [version_info, (one as Message)['name']]),
    [
      ['v15', 'dyn'],
      ['v15', 'found'],
      ['v15', 'other15'],
    ],
  );

  put('v16', [dyn(1), dyn(2)]);
  await untilStat(proxy, 'cluster_manager.cds.update_rejected', 1);
  await untilSaid(proxy, /resources\[1\]\.name: duplicate cluster dyn found/);
  assert.equal(await textAt(url), 'one');
  put('v17', []);
  await untilStat(proxy, 'cluster_manager.active_clusters', 0);
  assert.equal((await fetch(url)).status, 503);
  assert.equal(await textAt(`${proxy.adminUrl}/clusters`), '');
  put('v18', [found(1)]);
  await untilStat(proxy, 'cluster.found.update_success', 1);
  assert.equal(await textAt(`${url}/found`), 'one');
});

test('a cluster of CDS goes on until the hosts of the one in its place are checked; a new one is unknown', async (t) => {
  const folder = makeFolder(t);
  const [clusters, routes] = [join(folder, 'cds.json'), join(folder, 'rds.json')];
  const before = await startOrigin(t, 'before');
  const checks: ServerResponse[] = [];
  const origin = createServer((request, response) => {
    if (request.url === '/check') checks.push(response);
    else response.end('after');
  });
  const after = await listen(t, origin);
  putResources(routes, '', [
    routeResource(webRoutes([toCluster('/new', 'new'), toCluster('/', 'dyn')])),
  ]);
  const put = (version: string, all: readonly Message[]): void =>
    putResources(clusters, version, all.map(clusterResource));
  put('v0', [cluster('dyn', before)]);
  const proxy = await startProxy(t, {
    ...rdsBootstrap('web', fileSource(routes)),
    dynamic_resources: { cds_config: fileSource(clusters) },
  });
  const url = await proxy.listenerUrl('web');
  const checked = (name: string): Message => ({
    ...cluster(name, after),
    health_checks: [
      {
        ...{ timeout: '60s', interval: '60s', unhealthy_threshold: 1, healthy_threshold: 1 },
        http_health_check: { path: '/check' },
      },
    ],
  });
  put('v1', [checked('dyn'), checked('new')]);
  await untilStat(proxy, 'cluster_manager.warming_clusters', 2);
  while (checks.length < 2) await sleep(5);
  assert.equal(await textAt(url), 'before');
  assert.deepEqual([(await fetch(`${url}/new`)).status, await textAt(`${url}/new`)], [503, '']);
  const waiting = await dump(proxy, 'resource=dynamic_warming_clusters');
  assert.deepEqual(
    waiting.map(({ cluster: one }) => (one as Message)['name']),
    ['dyn', 'new'],
  );
  assert.doesNotMatch(await textAt(`${proxy.adminUrl}/clusters`), /^new::/m);
  assert.equal(await statText(proxy, 'cluster_manager.active_clusters'), '1');
  for (const one of checks) one.end();
  await untilStat(proxy, 'cluster_manager.warming_clusters', 0);
  await untilStat(proxy, 'cluster_manager.active_clusters', 2);
  assert.equal(await textAt(url), 'after');
  assert.equal(await textAt(`${url}/new`), 'after');
});

test('a source that is not there, or is of another kind, is refused with its place', async (t) => {
  const bootstrapWith = (source: Message): string =>
    JSON.stringify(rdsBootstrap('web', source, []));
  const file = join(makeFolder(t), 'bootstrap.json');
  const refusalOf = async (source: Message, mode = 'validate'): Promise<string> => {
    writeFileSync(file, bootstrapWith(source));
    const args = ['--use-dynamic-base-id', '-c', file];
    const { code, stderr } = await runCommand(t, '--mode', mode, ...args);
    assert.equal(code, 1);
    return stderr;
  };
  const at = 'rds\\.config_source';
  assert.match(
    await refusalOf(fileSource('/no/such.yaml')),
    new RegExp(`${at}\\.path_config_source\\.path: paths must refer to an existing path`),
  );
  assert.match(
    await refusalOf({ ads: {}, resource_api_version: 'V3' }, 'serve'),
    new RegExp(`${at}\\.ads: ADS must be configured to support an ADS config source`),
  );
});
