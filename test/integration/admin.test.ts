import assert from 'node:assert/strict';
import { test } from 'node:test';
import { says, webBootstrap, ADMIN_ONLY } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

test('a listener on port 0 shows the port that it got, in text and in JSON', async (t) => {
  const proxy = await startProxy(t, webBootstrap([says('/', 'yes')]));
  const { host } = new URL(await proxy.listenerUrl('web'));

  assert.equal(await (await fetch(`${proxy.adminUrl}/listeners`)).text(), `web::${host}\n`);
  assert.notEqual(host, '127.0.0.1:0');
});

test('/server_info says what is running and with which options', async (t) => {
  const proxy = await startProxy(t, ADMIN_ONLY, '--service-cluster', 'shop', '-l', 'warning');

  const answer = await fetch(`${proxy.adminUrl}/server_info`);
  const info = (await answer.json()) as {
    readonly state: string;
    readonly command_line_options: { readonly concurrency: number; readonly log_level: string };
    readonly node: { readonly cluster: string };
  };
  assert.equal(answer.headers.get('content-type'), 'application/json');
  assert.equal(info.state, 'LIVE');
  assert.equal(info.command_line_options.concurrency, 1);
  assert.equal(info.command_line_options.log_level, 'warning');
  assert.equal(info.node.cluster, 'shop');
});

test('text statistics are sorted by the bytes of their names, histograms last', async (t) => {
  const proxy = await startProxy(t, webBootstrap([says('/', 'yes')]));

  const lines = (await (await fetch(`${proxy.adminUrl}/stats`)).text()).trimEnd().split('\n');
  const isHistogram = (line: string): boolean => /: (No recorded values|P0\()/.test(line);
  const first = lines.findIndex(isHistogram);
  const names = lines.map((line) => line.slice(0, line.indexOf(': ')));
  assert.ok(first > 0 && lines.slice(first).every(isHistogram));
  for (const group of [names.slice(0, first), names.slice(first)]) {
    assert.deepEqual(group, [...group].sort());
  }
});

test('without hot restart its gauges are not among the used ones', async (t) => {
  const proxy = await startProxy(t, ADMIN_ONLY, '--disable-hot-restart');

  const url = `${proxy.adminUrl}/stats?filter=^server.(hot|parent)`;
  const names = async (query: string): Promise<string[]> =>
    (await (await fetch(url + query)).text()).split('\n').map((line) => line.split(':')[0] ?? '');
  assert.deepEqual(await names('&usedonly'), ['']);
  assert.deepEqual(await names(''), ['server.hot_restart_epoch', 'server.parent_connections', '']);
});

test('how many hosts there are is used where a locality is named, be it without any', async (t) => {
  const cluster = (name: string, endpoints: readonly object[]): object => ({
    ...{ name, load_assignment: { cluster_name: name, endpoints } },
  });
  const clusters = [cluster('none', []), cluster('bare', [{}])];
  const proxy = await startProxy(t, { ...ADMIN_ONLY, static_resources: { clusters } });

  const url = `${proxy.adminUrl}/stats?usedonly&filter=membership_(total|healthy)`;
  assert.equal(
    await (await fetch(url)).text(),
    'cluster.bare.membership_healthy: 0\ncluster.bare.membership_total: 0\n',
  );
});

test('the admin server counts itself', async (t) => {
  const proxy = await startProxy(t, ADMIN_ONLY);
  await (await fetch(`${proxy.adminUrl}/nothing`)).text();

  const stats = await (
    await fetch(`${proxy.adminUrl}/stats?filter=http.admin.downstream_rq_4xx`)
  ).text();
  assert.equal(
    stats,
    'http.admin.downstream_rq_4xx: 1\nlistener.admin.http.admin.downstream_rq_4xx: 1\n',
  );
});

test('a counter that was reset starts again, and stays among the used ones', async (t) => {
  const proxy = await startProxy(t, webBootstrap([says('/', 'yes')]));
  const url = await proxy.listenerUrl('web');
  const stats = async (): Promise<string> =>
    (await fetch(`${proxy.adminUrl}/stats?usedonly&filter=^http.web.rq_total$`)).text();
  await (await fetch(url)).text();
  assert.equal(await stats(), 'http.web.rq_total: 1\n');

  await fetch(`${proxy.adminUrl}/reset_counters`, { method: 'POST' });
  assert.equal(await stats(), 'http.web.rq_total: 0\n');
  await (await fetch(url)).text();
  assert.equal(await stats(), 'http.web.rq_total: 1\n');
});

test('a level that was set by /logging takes effect at once', async (t) => {
  const proxy = await startProxy(t, ADMIN_ONLY, '-l', 'off');
  await fetch(`${proxy.adminUrl}/logging?admin=debug`, { method: 'POST' });
  await fetch(`${proxy.adminUrl}/ready`);

  await proxy.command.says(/\[debug\]\[admin\] .* request: GET \/ready/);
});
