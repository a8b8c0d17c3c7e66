import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { says, webBootstrap } from './support/bootstraps.js';
import { makeFolder, startProxy, type StartedProxy } from './support/start-proxy.js';

const CANARY = {
  ...says('/', 'new'),
  match: {
    prefix: '/',
    runtime_fraction: { runtime_key: 'canary.share', default_value: { numerator: 0 } },
  },
};

async function startWith(t: TestContext, layers: readonly object[]): Promise<StartedProxy> {
  const bootstrap = webBootstrap([CANARY, says('/', 'old')]);
  return startProxy(t, { ...bootstrap, layered_runtime: { layers } });
}

test('a route follows its runtime key as soon as it is set, and back', async (t) => {
  const proxy = await startWith(t, [{ name: 'admin', admin_layer: {} }]);
  const url = await proxy.listenerUrl('web');
  const ask = async (): Promise<string> => (await fetch(url)).text();
  const modify = (value: string): Promise<Response> =>
    fetch(`${proxy.adminUrl}/runtime_modify?canary.share=${value}`, { method: 'POST' });

  assert.equal(await ask(), 'old');
  await modify('100');
  assert.equal(await ask(), 'new');
  await modify('{numerator: 0}');
  assert.equal(await ask(), 'old');
  await modify('');
  assert.equal(await ask(), 'old');
});

test('a layer on disk is read anew when its link is swapped', async (t) => {
  const folder = makeFolder(t);
  for (const [version, share] of [
    ['v1', '0'],
    ['v2', '100'],
  ] as const) {
    mkdirSync(join(folder, version, 'canary'), { recursive: true });
    writeFileSync(join(folder, version, 'canary', 'share'), `# percent\n${share}\n`);
  }
  symlinkSync('v1', join(folder, 'current'));
  const disk_layer = { symlink_root: join(folder, 'current') };
  const proxy = await startWith(t, [{ name: 'disk', disk_layer }]);
  const url = await proxy.listenerUrl('web');
  assert.equal(await (await fetch(url)).text(), 'old');

  symlinkSync('v2', join(folder, 'next'));
  renameSync(join(folder, 'next'), join(folder, 'current'));
  const end = Date.now() + 5000;
  let answer = '';
  while (answer !== 'new' && Date.now() < end) {
    answer = await (await fetch(url)).text();
    await sleep(10);
  }
  assert.equal(answer, 'new');
});

test('numbers of a static layer are shown with six digits, and count in full', async (t) => {
  const proxy = await startWith(t, [
    {
      name: 'static',
      static_layer: { large: 1_000_000, long: 0.123456789, canary: { share: 1e6 } },
    },
  ]);
  const page = (await (await fetch(`${proxy.adminUrl}/runtime`)).json()) as {
    readonly entries: Readonly<Record<string, { readonly final_value: string }>>;
  };
  assert.equal(page.entries['large']?.final_value, '1e+06');
  assert.equal(page.entries['long']?.final_value, '0.123457');
  assert.equal(await (await fetch(await proxy.listenerUrl('web'))).text(), 'new');
});

test('a layered runtime without layers takes overrides, in a layer without a name', async (t) => {
  const proxy = await startWith(t, []);
  const modified = await fetch(`${proxy.adminUrl}/runtime_modify?canary.share=100`, {
    method: 'POST',
  });
  assert.equal(modified.status, 200);
  assert.equal(await (await fetch(await proxy.listenerUrl('web'))).text(), 'new');
  assert.deepEqual(await (await fetch(`${proxy.adminUrl}/runtime`)).json(), {
    entries: { 'canary.share': { layer_values: ['100'], final_value: '100' } },
    layers: [''],
  });
});

test('beyond overload.global_downstream_max_connections only listeners that ignore it take more', async (t) => {
  const bootstrap = webBootstrap([says('/', 'yes')]) as {
    readonly static_resources: { readonly listeners: readonly object[] };
  };
  const [web] = bootstrap.static_resources.listeners;
  const free = { ...web, name: 'free', ignore_global_conn_limit: true };
  const proxy = await startProxy(t, {
    ...bootstrap,
    static_resources: { listeners: [web, free] },
    layered_runtime: { layers: [{ name: 'admin', admin_layer: {} }] },
  });
  const modify = async (limit: string): Promise<void> => {
    const key = 'overload.global_downstream_max_connections';
    await fetch(`${proxy.adminUrl}/runtime_modify?${key}=${limit}`, { method: 'POST' });
  };
  const ask = async (name: string): Promise<string> => {
    const url = await proxy.listenerUrl(name);
    const answer = await fetch(url, { headers: { connection: 'close' } }).catch(() => undefined);
    return answer ? answer.text() : 'refused';
  };
  await modify('0');
  assert.equal(await ask('web'), 'refused');
  assert.equal(await ask('free'), 'yes');
  await modify('');
  assert.equal(await ask('web'), 'yes');
});

test('that there is no limit to connections is told with a remedy, which works as it stands', async (t) => {
  const warning = /\[warning\]\[main\].* There is no configured limit to .* connections\. (.*)/;
  const unlimited = await startProxy(t, webBootstrap([says('/', 'yes')]));
  const [, remedy = ''] = warning.exec(unlimited.command.stderr) ?? [];
  const [, yaml = ''] = / sets one: (.+)$/.exec(remedy) ?? [];
  assert.ok(yaml.startsWith('layered_runtime: '), unlimited.command.stderr);

  const limited = await startProxy(t, webBootstrap([says('/', 'yes')]), '--config-yaml', yaml);
  assert.doesNotMatch(limited.command.stderr, warning);
  const runtime = await (await fetch(`${limited.adminUrl}/runtime`)).text();
  assert.match(runtime, /"overload\.global_downstream_max_connections"[^}]*"50000"/);
});

test("a cluster's maintenance and limits follow their runtime keys", async (t) => {
  const origin = createServer((_request, response) => response.end('yes')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  const { port } = origin.address() as AddressInfo;
  const route = { match: { prefix: '/' }, route: { cluster: 'a.b' } };
  const proxy = await startProxy(t, {
    ...webBootstrap([route], { 'a.b': port }),
    layered_runtime: {
      layers: [
        {
          name: 'static',
          static_layer: { circuit_breakers: { 'a.b': { high: { max_requests: 7 } } } },
        },
        { name: 'admin', admin_layer: {} },
      ],
    },
  });
  const url = await proxy.listenerUrl('web');
  const limits = async (): Promise<string> => (await fetch(`${proxy.adminUrl}/clusters`)).text();
  const modify = (query: string): Promise<Response> =>
    fetch(`${proxy.adminUrl}/runtime_modify?${query}`, { method: 'POST' });

  assert.match(await limits(), /a\.b::high_priority::max_requests::7\n/);
  await modify('upstream.maintenance_mode.a.b=100');
  const refused = await fetch(url);
  assert.equal(refused.status, 503);
  assert.equal(await refused.text(), 'maintenance mode');
  await modify('upstream.maintenance_mode.a.b=&circuit_breakers.a.b.default.max_connections=5');
  assert.equal(await (await fetch(url)).text(), 'yes');
  assert.match(await limits(), /a\.b::default_priority::max_connections::5\n/);
  await modify(
    'circuit_breakers.a.b.default.max_connections=&circuit_breakers.a.b.high.max_requests=8',
  );
  assert.match(
    await limits(),
    /default_priority::max_connections::1024\n[^]*high_priority::max_requests::8\n/,
  );
});
