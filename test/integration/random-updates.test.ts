// Updates by chance, good and bad, while requests pass: none of these fails, what is wrong is refused with
// the name of its field, and in the end the state is the control plane's. FAIRLEAD_SEED and
// FAIRLEAD_UPDATES choose which and how many; FAIRLEAD_VERDICTS names a file for what became of each and of all, so
// that FAIRLEAD_TEST_COMMAND can be compared (test/parity/control-planes.mjs does).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { ADMIN_ONLY, planeCluster } from './support/bootstraps.js';
import {
  CLUSTER,
  ControlPlane,
  ENDPOINTS,
  EXTENSION,
  LISTENER,
  ROUTES,
  RUNTIME,
  SCOPE,
  SECRET,
  type Message,
  type Request,
} from './support/control-plane.js';
import { discoveredState } from './support/discovered-state.js';
import { Dice, NAMED, Resources } from './support/random-resources.js';
import { randomFrom } from './support/random.js';
import { startProxy, type StartedProxy } from './support/start-proxy.js';
import { wrongOf } from './support/wrong-resources.js';

const SEED = Number(process.env.FAIRLEAD_SEED ?? 1);
const UPDATES = Number(process.env.FAIRLEAD_UPDATES ?? 30);
const IS_OWN = process.env.FAIRLEAD_TEST_COMMAND === undefined;

type Way = 'ads' | 'delta-ads' | 'xds' | 'delta';

const api = (isDelta: boolean): Message => ({
  api_type: isDelta ? 'DELTA_GRPC' : 'GRPC',
  transport_api_version: 'V3',
  grpc_services: [{ envoy_grpc: { cluster_name: 'plane' } }],
});

const source = (way: Way): Message =>
  way.endsWith('ads')
    ? { ads: {}, resource_api_version: 'V3' }
    : { api_config_source: api(way === 'delta'), resource_api_version: 'V3' };

const bootstrap = (way: Way, plane: ControlPlane): object => ({
  ...ADMIN_ONLY,
  node: { id: 'one', cluster: 'many' },
  dynamic_resources: {
    ...(way.endsWith('ads') && { ads_config: api(way === 'delta-ads') }),
    cds_config: source(way),
    lds_config: source(way),
  },
  layered_runtime: {
    layers: [{ name: 'far', rtds_layer: { name: 'layer', rtds_config: source(way) } }],
  },
  static_resources: {
    clusters: [planeCluster(plane.port)],
  },
});

const TYPES = [CLUSTER, ENDPOINTS, ROUTES, EXTENSION, LISTENER, SECRET, RUNTIME, SCOPE] as const;

interface Change {
  readonly type: string;
  readonly resources: readonly Message[];
  /** What a refusal has to say; undefined: it is good. */
  readonly wrong?: string;
}

/** What there is, and what may become of it. */
class World {
  readonly #make: Resources;
  readonly #dice: Dice;
  /** By type, as it was taken the last time. */
  readonly good: Map<string, readonly Message[]>;

  constructor(make: Resources, dice: Dice) {
    this.#make = make;
    this.#dice = dice;
    this.good = new Map(make.all());
  }

  next(): Change {
    const type = this.#dice.oneOf(TYPES);
    if (!this.#dice.isOneIn(3)) return { type, resources: this.#make.of(type) };
    const [wrong, bad] = wrongOf(type, this.#make, (limit) => this.#dice.below(limit));
    const rest = NAMED.has(type) ? [] : (this.good.get(type) ?? []);
    return { type, resources: [...rest, ...bad], wrong };
  }
}

/** The refusal where there is one; undefined: nothing is said within a while. */
async function answersTo(
  plane: ControlPlane,
  nonces: readonly string[],
): Promise<Request | undefined> {
  for (let tries = 0; tries < 1000; tries++) {
    const found = nonces.map((nonce) =>
      plane.requests.findLast((one) => one.response_nonce === nonce),
    );
    if (!found.includes(undefined)) return found.find((one) => one?.error_detail) ?? found[0];
    await sleep(3);
  }
  return undefined;
}

/** The status, or how it failed. */
const get = async (url: string, headers = {}): Promise<string> => {
  try {
    const response = await fetch(url, { headers });
    await response.text();
    return String(response.status);
  } catch (error) {
    return String(error);
  }
};

/** Over a connection of its own. */
const getSafely = (url: string): Promise<string> =>
  new Promise((resolve) => {
    const sent = request(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume().on('end', () => resolve(String(response.statusCode)));
    });
    sent.on('error', (error) => resolve(String(error))).end();
  });

/** Requests to all listeners that are always there, one after the other, until it is told to end. */
async function beginTraffic(
  proxy: StartedProxy,
): Promise<() => Promise<{ readonly passed: number; readonly failures: readonly string[] }>> {
  const web = await proxy.listenerUrl('web');
  const safe = (await proxy.listenerUrl('safe')).replace('http:', 'https:');
  const scoped = await proxy.listenerUrl('scoped');
  let isOver = false;
  let passed = 0;
  const failures: string[] = [];
  const ask = async (name: string, once: () => Promise<string>): Promise<void> => {
    while (!isOver) {
      const status = await once();
      if (status === '200') passed++;
      else failures.push(`${name}: ${status}`);
      await sleep(5);
    }
  };
  const all = Promise.all([
    ask('web', () => get(web)),
    ask('safe', () => getSafely(safe)),
    ask('scoped', () => get(scoped, { 'x-scope': 'all' })),
  ]);
  return async () => {
    isOver = true;
    await all;
    return { passed, failures };
  };
}

async function play(t: TestContext, way: Way): Promise<void> {
  const ports = [await startOrigin(t), await startOrigin(t)] as const;
  const plane = await ControlPlane.start(t);
  const dice = new Dice(randomFrom(SEED));
  const world = new World(new Resources(source(way), [...ports], dice), dice);
  for (const [type, resources] of world.good) plane.set(type, '0', resources);
  const proxy = await startProxy(t, bootstrap(way, plane), '--drain-time-s', '2');
  const end = await beginTraffic(proxy);
  const verdicts: string[] = [];
  for (let index = 1; index <= UPDATES; index++) {
    const { type, resources, wrong } = world.next();
    const kind = type.split('.').at(-1) ?? '';
    const nonces = plane.set(type, String(index), resources);
    // Of what has not changed incremental streams say nothing.
    if (nonces.length === 0) {
      if (wrong === undefined) world.good.set(type, resources);
      continue;
    }
    const answer = await answersTo(plane, nonces);
    const error = answer?.error_detail?.message;
    verdicts.push(
      `${way} ${index} ${kind} ${wrong ?? ''} ${error ? 'NACK' : answer ? 'ACK' : 'nothing'}`,
    );
    if (wrong === undefined) {
      world.good.set(type, resources);
      assert.equal(error, undefined, `${kind} of update ${index}`);
    } else {
      // The real server does not always say which it is.
      const isNamed = IS_OWN
        ? (error ?? '').toLowerCase().includes(wrong)
        : error !== undefined && error !== '';
      const sent = JSON.stringify(resources.at(-1));
      assert.ok(isNamed, `${kind} of update ${index} is refused for ${wrong}: ${error} (${sent})`);
      // It is mended before anything else happens.
      const mended = plane.set(type, `${index}-mended`, world.good.get(type) ?? []);
      await answersTo(plane, mended);
    }
  }
  const { passed, failures } = await end();
  if (process.env.FAIRLEAD_VERDICTS) {
    const names = new Map([...ports, plane.port].map((port, index) => [port, `port-${index}`]));
    const state = await discoveredState(proxy, names);
    const told = [...verdicts, ...state.map((line) => `${way}: ${line}`)];
    appendFileSync(process.env.FAIRLEAD_VERDICTS, `${told.join('\n')}\n`);
  }
  assert.deepEqual(failures, []);
  assert.ok(passed > 0);
  await checkState(proxy, world);
}

async function startOrigin(t: TestContext): Promise<number> {
  const origin = createServer((_, response) => response.end('well'));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  t.after(() => origin.closeAllConnections());
  return (origin.address() as AddressInfo).port;
}

interface Named {
  readonly name: string;
}

interface Dump {
  readonly configs: readonly {
    readonly dynamic_active_clusters?: readonly { readonly cluster: Named }[];
    readonly dynamic_listeners?: readonly (Named & { readonly active_state?: object })[];
    readonly dynamic_route_configs?: readonly {
      readonly route_config: Named & { readonly virtual_hosts: readonly Named[] };
    }[];
    readonly dynamic_scoped_route_configs?: readonly {
      readonly scoped_route_configs: readonly Named[];
    }[];
  }[];
}

/** All is as the control plane has it. */
async function checkState(proxy: StartedProxy, { good }: World): Promise<void> {
  const { configs } = (await (await fetch(`${proxy.adminUrl}/config_dump`)).json()) as Dump;
  const wanted = (type: string): readonly Message[] => good.get(type) ?? [];
  const same = (found: readonly string[], type: string): void =>
    assert.deepEqual(
      [...found].sort(),
      wanted(type)
        .map(({ name }) => String(name))
        .sort(),
    );
  same(
    configs.flatMap(({ dynamic_active_clusters: all = [] }) => all.map((one) => one.cluster.name)),
    CLUSTER,
  );
  same(
    configs.flatMap(({ dynamic_listeners: all = [] }) =>
      all.flatMap(({ name, active_state: active }) => (active ? name : [])),
    ),
    LISTENER,
  );
  same(
    configs.flatMap(({ dynamic_scoped_route_configs: all = [] }) =>
      all.flatMap(({ scoped_route_configs: scopes }) => scopes.map(({ name }) => name)),
    ),
    SCOPE,
  );
  const tables = configs.flatMap(({ dynamic_route_configs: all = [] }) =>
    all.flatMap(({ route_config: { name, virtual_hosts: hosts } }) =>
      name === 'table' ? [hosts.map((host) => host.name)] : [],
    ),
  );
  const [table] = wanted(ROUTES) as readonly [{ readonly virtual_hosts: readonly Named[] }];
  assert.deepEqual(tables, [table.virtual_hosts.map(({ name }) => name)]);
  await checkValues(proxy, wanted);
}

/** What no dump shows as it came. */
async function checkValues(
  proxy: StartedProxy,
  wanted: (type: string) => readonly Message[],
): Promise<void> {
  const runtime = (await (await fetch(`${proxy.adminUrl}/runtime`)).json()) as {
    readonly entries: Readonly<Record<string, { readonly final_value: string }>>;
  };
  const [{ layer }] = wanted(RUNTIME) as readonly [
    { readonly layer: { readonly fields: Readonly<Record<string, { numberValue: number }>> } },
  ];
  for (const [key, { numberValue }] of Object.entries(layer.fields)) {
    assert.equal(runtime.entries[key]?.final_value, String(numberValue));
  }
  const hosts = await (await fetch(`${proxy.adminUrl}/clusters`)).text();
  const found = [...hosts.matchAll(/^origin::(127\.0\.0\.1:\d+)::weight::/gm)].map(
    ([, one]) => one,
  );
  const [{ endpoints }] = wanted(ENDPOINTS) as readonly [
    { readonly endpoints: readonly { readonly lb_endpoints: readonly { endpoint: object }[] }[] },
  ];
  const ports = [...JSON.stringify(endpoints).matchAll(/"port_value":(\d+)/g)].map(
    ([, one]) => one,
  );
  const all = [...new Set(ports.map((port) => `127.0.0.1:${port}`))];
  assert.deepEqual(found.sort(), all.sort());
  const { port } = new URL(await proxy.listenerUrl('safe'));
  const socket = connect({ port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const raw = socket.getPeerCertificate().raw.toString('base64');
  socket.destroy();
  const chain = JSON.stringify(wanted(SECRET)).replaceAll('\\n', '');
  assert.ok(chain.includes(raw), 'the certificate is that of the control plane');
}

for (const way of ['ads', 'delta-ads', 'xds', 'delta'] as const) {
  test(`updates by chance over ${way} end as the control plane has them`, (t) => play(t, way));
}
