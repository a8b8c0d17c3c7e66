// Updates by chance, good and bad, while requests pass: none of these fails, what is wrong is refused with
// the name of its field, and in the end the state is the control plane's. FAIRLEAD_SEED and
// FAIRLEAD_UPDATES choose which and how many; FAIRLEAD_VERDICTS names a file for what became of each, so
// that FAIRLEAD_TEST_COMMAND can be compared (test/parity/control-planes.mjs does).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_ONLY, address } from './support/bootstraps.js';
import {
  CLUSTER,
  ControlPlane,
  ENDPOINTS,
  EXTENSION,
  LISTENER,
  ROUTES,
  type Message,
  type Request,
} from './support/control-plane.js';
import { randomFrom } from './support/random.js';
import { startProxy } from './support/start-proxy.js';

const SEED = Number(process.env.FAIRLEAD_SEED ?? 1);
const UPDATES = Number(process.env.FAIRLEAD_UPDATES ?? 40);
const ANY = 'type.googleapis.com/';
const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const FAULT = 'envoy.extensions.filters.http.fault.v3.HTTPFault';
const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

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
  static_resources: {
    clusters: [
      {
        name: 'plane',
        load_assignment: {
          cluster_name: 'plane',
          endpoints: [{ lb_endpoints: [{ endpoint: { address: address(plane.port) } }] }],
        },
        typed_extension_protocol_options: {
          [HTTP_OPTIONS]: {
            '@type': ANY + HTTP_OPTIONS,
            explicit_http_config: { http2_protocol_options: {} },
          },
        },
      },
    ],
  },
});

interface Change {
  readonly type: string;
  readonly resources: readonly Message[];
  /** Undefined: it is good. */
  readonly wrongField?: string;
}

/** What is asked for by name. */
const NAMED: ReadonlySet<string> = new Set([ENDPOINTS, ROUTES, EXTENSION]);

/** What is there, and what may become of it. */
class World {
  readonly #way: Way;
  readonly #port: number;
  readonly #random: () => number;
  /** By type, as it was taken the last time. */
  readonly good = new Map<string, readonly Message[]>();

  constructor(way: Way, port: number, random: () => number) {
    this.#way = way;
    this.#port = port;
    this.#random = random;
    this.good.set(CLUSTER, [this.#cluster('origin')]);
    this.good.set(ENDPOINTS, [this.#hosts('origin')]);
    this.good.set(ROUTES, [this.#routes([])]);
    this.good.set(EXTENSION, [this.#filter(503)]);
    this.good.set(LISTENER, [this.#listener('web')]);
  }

  next(): Change {
    const types = [CLUSTER, ENDPOINTS, ROUTES, EXTENSION, LISTENER];
    const type = types[this.#below(types.length)] ?? CLUSTER;
    if (this.#below(3) === 0) return this.#wrong(type);
    const count = this.#below(4);
    const names = Array.from({ length: count }, (_, index) => `other-${index}`);
    if (type === CLUSTER) {
      return {
        type,
        resources: [this.#cluster('origin'), ...names.map((name) => this.#cluster(name, true))],
      };
    }
    if (type === ENDPOINTS) return { type, resources: [this.#hosts('origin')] };
    if (type === EXTENSION) return { type, resources: [this.#filter(200 + this.#below(400))] };
    if (type === ROUTES) return { type, resources: [this.#routes(names)] };
    return {
      type,
      resources: [this.#listener('web'), ...names.map((name) => this.#listener(name))],
    };
  }

  #wrong(type: string): Change {
    const wrongs: Readonly<Record<string, readonly (readonly [string, readonly Message[]])[]>> = {
      [CLUSTER]: [
        ['connect_timeout', [{ ...this.#cluster('bad', true), connect_timeout: { seconds: -1 } }]],
        [
          'minimum_ring_size',
          [
            {
              ...this.#cluster('bad', true),
              ring_hash_lb_config: { minimum_ring_size: { value: 9_000_000 } },
            },
          ],
        ],
        ['name', [{ ...this.#cluster('', true) }]],
      ],
      [ENDPOINTS]: [
        ['load_balancing_weight', [this.#hosts('origin', { load_balancing_weight: { value: 0 } })]],
      ],
      [ROUTES]: [
        ['name', [this.#routes([''])]],
        ['domains', [this.#routes(['same', 'same'])]],
      ],
      [EXTENSION]: [
        ['http_status', [this.#filter(99)]],
        ['type url', [this.#filter(503, ROUTER)]],
      ],
      [LISTENER]: [['stat_prefix', [this.#listener('bad', '')]]],
    };
    const some = wrongs[type] ?? [];
    const [wrongField = '', bad = []] = some[this.#below(some.length)] ?? [];
    const isNamed = NAMED.has(type);
    const rest = isNamed ? [] : (this.good.get(type) ?? []);
    return { type, resources: [...rest, ...bad], wrongField };
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #cluster(name: string, isStatic = false): Message {
    const common = { name, connect_timeout: { seconds: 1 + this.#below(9) } };
    if (isStatic) return common;
    return {
      ...common,
      connect_timeout: { seconds: 5 },
      type: 'EDS',
      eds_cluster_config: { eds_config: source(this.#way) },
    };
  }

  #hosts(cluster_name: string, more: Message = {}): Message {
    const endpoint = { endpoint: { address: address(this.#port) }, ...more };
    const second = {
      endpoint: { address: address(this.#port) },
      health_status: this.#below(2) === 0 ? 'HEALTHY' : 'UNKNOWN',
      load_balancing_weight: { value: 1 + this.#below(100) },
    };
    return {
      cluster_name,
      endpoints: [{ lb_endpoints: [Object.keys(more).length > 0 ? endpoint : second] }],
    };
  }

  #routes(names: readonly string[]): Message {
    return {
      name: 'table',
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'origin' } }],
        },
        ...names.map((name, index) => ({
          name: name === 'same' ? `same-${index}` : name,
          domains: [name === '' ? 'unnamed.test' : `${name}.test`],
          routes: [
            {
              match: { prefix: '/' },
              direct_response: { status: 200 + this.#below(100) },
            },
          ],
        })),
      ],
    };
  }

  /** Of no request of these. */
  #filter(http_status: number, type = FAULT): Message {
    const fields = {
      headers: [{ name: 'x-nobody', present_match: true }],
      abort: { http_status, percentage: { numerator: 100 } },
    };
    return {
      name: 'faults',
      typed_config: { '@type': ANY + type, ...(type === FAULT && fields) },
    };
  }

  #listener(name: string, stat_prefix = 'web'): Message {
    const isWeb = name === 'web';
    return {
      name,
      address: address(0),
      ...(!isWeb && { traffic_direction: this.#below(2) === 0 ? 'INBOUND' : 'OUTBOUND' }),
      filter_chains: [
        {
          filters: [
            {
              name: 'http',
              typed_config: {
                '@type': ANY + HCM,
                stat_prefix,
                rds: { route_config_name: 'table', config_source: source(this.#way) },
                http_filters: [
                  {
                    name: 'faults',
                    config_discovery: {
                      config_source: source(this.#way),
                      type_urls: [ANY + FAULT],
                    },
                  },
                  { name: 'router', typed_config: { '@type': ANY + ROUTER } },
                ],
              },
            },
          ],
        },
      ],
    };
  }
}

async function answerTo(
  plane: ControlPlane,
  type: string,
  from: number,
): Promise<Request | undefined> {
  for (let tries = 0; tries < 300; tries++) {
    const found = plane.requests
      .slice(from)
      .find((one) => one.type === type && one.response_nonce !== '');
    if (found) return found;
    await sleep(10);
  }
  return undefined;
}

async function play(t: TestContext, way: Way): Promise<void> {
  const origin = createServer((_, response) => response.end('well'));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  t.after(() => origin.closeAllConnections());
  const plane = await ControlPlane.start(t);
  const world = new World(way, (origin.address() as AddressInfo).port, randomFrom(SEED));
  for (const [type, resources] of world.good) plane.set(type, '0', resources);
  const proxy = await startProxy(t, bootstrap(way, plane));
  const url = await proxy.listenerUrl('web');
  let isOver = false;
  let passed = 0;
  const failures: string[] = [];
  const traffic = (async () => {
    while (!isOver) {
      const response = await fetch(url).catch((error: unknown) => ({
        status: String(error),
        text: async () => '',
      }));
      await response.text();
      if (response.status === 200) passed++;
      else failures.push(String(response.status));
      await sleep(2);
    }
  })();
  const verdicts: string[] = [];
  for (let index = 1; index <= UPDATES; index++) {
    const { type, resources, wrongField } = world.next();
    const isSame = JSON.stringify(resources) === JSON.stringify(world.good.get(type));
    const from = plane.requests.length;
    plane.set(type, String(index), resources);
    const kind = type.split('.').at(-1) ?? '';
    // Of what is asked for by name and has not changed incremental streams say nothing.
    const isNamed = NAMED.has(type);
    if (isSame && isNamed && way.startsWith('delta')) continue;
    const answer = await answerTo(plane, type, from);
    const error = answer?.error_detail?.message;
    verdicts.push(`${way} ${index} ${kind} ${error ? 'NACK' : answer ? 'ACK' : 'nothing'}`);
    if (wrongField === undefined) {
      world.good.set(type, resources);
      assert.equal(error, undefined, `${kind} of update ${index}`);
    } else {
      const spellings = [wrongField, wrongField.replaceAll('_', ''), 'domain'];
      const text = (error ?? '').toLowerCase();
      // The real server does not always say which it is.
      const isNamedSo =
        process.env.FAIRLEAD_TEST_COMMAND === undefined
          ? spellings.some((one) => text.includes(one))
          : text !== '';
      assert.ok(isNamedSo, `update ${index} is refused for ${wrongField}: ${error}`);
      // It is mended before anything else happens.
      const mended = plane.requests.length;
      plane.set(type, `${index}-mended`, world.good.get(type) ?? []);
      await answerTo(plane, type, mended);
    }
  }
  isOver = true;
  await traffic;
  if (process.env.FAIRLEAD_VERDICTS) {
    appendFileSync(process.env.FAIRLEAD_VERDICTS, `${verdicts.join('\n')}\n`);
  }
  assert.deepEqual(failures, []);
  assert.ok(passed > 0);
  const dump = (await (await fetch(`${proxy.adminUrl}/config_dump`)).json()) as {
    readonly configs: readonly {
      readonly dynamic_active_clusters?: readonly { readonly cluster: { readonly name: string } }[];
      readonly dynamic_listeners?: readonly {
        readonly name: string;
        readonly active_state?: object;
      }[];
    }[];
  };
  const names = (type: string): unknown[] =>
    (world.good.get(type) ?? []).map(({ name }) => name).sort();
  const clusters = dump.configs.flatMap(({ dynamic_active_clusters: all = [] }) =>
    all.map(({ cluster }) => cluster.name),
  );
  assert.deepEqual(clusters.sort(), names(CLUSTER));
  const listeners = dump.configs.flatMap(({ dynamic_listeners: all = [] }) =>
    all.flatMap(({ name, active_state: active }) => (active ? name : [])),
  );
  assert.deepEqual(listeners.sort(), names(LISTENER));
}

for (const way of ['ads', 'delta-ads', 'xds', 'delta'] as const) {
  test(`updates by chance over ${way} end as the control plane has them`, (t) => play(t, way));
}
