// Asks the real server and a candidate for the hosts of the same hashes, and compares: rings and
// Maglev's tables, with weights, keys, names, localities and hosts that are sick.
//   FAIRLEAD_BENCH_ENVOY=…/envoy node test/parity/hash-tables.mjs [--proxy 'node dist/cli.js'] [--keys 10000]
// Hosts are addresses of the loopback network, on one port: an origin says on which it was reached.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    proxy: { type: 'string', default: 'node dist/cli.js' },
    keys: { type: 'string', default: '10000' },
  },
});
const oracle = process.env.FAIRLEAD_BENCH_ENVOY;
if (!oracle) throw new Error('FAIRLEAD_BENCH_ENVOY must name the real server');
const keyCount = Number(values.keys);
const HOSTS = 24;
const CONNECTIONS = 8;

const range = (count) => Array.from({ length: count }, (_, index) => index);

/** `of(i)` adds to host i. */
const endpoints = (port, of = () => ({}), count = HOSTS, first = 0) =>
  range(count).map((index) => {
    const at = first + index;
    const { hostname, ...more } = of(at);
    const address = { socket_address: { address: `127.0.1.${at + 1}`, port_value: port } };
    return { endpoint: { address, ...(hostname && { hostname }) }, ...more };
  });

const weighted = (index) => ({ load_balancing_weight: 1 + (index % 5) });
const keyed = (index) => ({
  metadata: { filter_metadata: { 'envoy.lb': { hash_key: `key-${index * 7}` } } },
});
const named = (index) => ({ hostname: `host-${index}.test` });
const sick = (index) => (index % 6 === 0 ? { health_status: 'UNHEALTHY' } : {});

/** Clusters by name: what is theirs, and their localities. */
function clustersOf(port) {
  const all = (of) => [{ lb_endpoints: endpoints(port, of) }];
  const byName = {
    type: 'STRICT_DNS',
    common_lb_config: { consistent_hashing_lb_config: { use_hostname_for_hashing: true } },
  };
  const ring = { lb_policy: 'RING_HASH' };
  const maglev = { lb_policy: 'MAGLEV' };
  const localities = [3, 1, 0].map((weight, index) => ({
    locality: { zone: `z${index}` },
    ...(weight > 0 && { load_balancing_weight: weight }),
    lb_endpoints: endpoints(port, weighted, 8, index * 8),
  }));
  const byLocality = { common_lb_config: { locality_weighted_lb_config: {} } };
  const typed = (name, type, config) => ({
    load_balancing_policy: {
      policies: [
        {
          typed_extension_config: {
            name: `envoy.load_balancing_policies.${name}`,
            typed_config: {
              '@type': `type.googleapis.com/envoy.extensions.load_balancing_policies.${name}.v3.${type}`,
              ...config,
            },
          },
        },
      ],
    },
  });
  return {
    ring: [ring, all()],
    'ring-murmur': [
      { ...ring, ring_hash_lb_config: { hash_function: 'MURMUR_HASH_2' } },
      all(weighted),
    ],
    'ring-small': [
      { ...ring, ring_hash_lb_config: { minimum_ring_size: 50, maximum_ring_size: 60 } },
      all(weighted),
    ],
    'ring-keyed': [ring, all(keyed)],
    'ring-named': [{ ...ring, ...byName }, all(named)],
    'ring-sick': [ring, all(sick)],
    'ring-localities': [{ ...ring, ...byLocality }, localities],
    'ring-typed': [typed('ring_hash', 'RingHash', { minimum_ring_size: 3000 }), all()],
    maglev: [maglev, all()],
    'maglev-weighted': [{ ...maglev, maglev_lb_config: { table_size: 1009 } }, all(weighted)],
    'maglev-keyed': [maglev, all(keyed)],
    'maglev-named': [{ ...maglev, ...byName }, all(named)],
    'maglev-sick': [maglev, all(sick)],
    'maglev-localities': [{ ...maglev, ...byLocality }, localities],
    'maglev-typed': [typed('maglev', 'Maglev', { table_size: 509 }), all(weighted)],
  };
}

function bootstrapOf(originPort) {
  const clusters = Object.entries(clustersOf(originPort));
  const hash = [
    { header: { header_name: 'x-key' } },
    { query_parameter: { name: 'q' } },
    {
      header: {
        header_name: 'x-part',
        regex_rewrite: { pattern: { regex: '^(.*)-.*$' }, substitution: '\\1' },
      },
    },
  ];
  return {
    admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } },
    static_resources: {
      clusters: clusters.map(([name, [fields, localities]]) => ({
        name,
        connect_timeout: '5s',
        ...fields,
        load_assignment: { cluster_name: name, endpoints: localities },
      })),
      listeners: [
        {
          name: 'l',
          address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
          filter_chains: [
            {
              filters: [
                {
                  name: 'envoy.filters.network.http_connection_manager',
                  typed_config: {
                    '@type':
                      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
                    stat_prefix: 'h',
                    route_config: {
                      virtual_hosts: [
                        {
                          name: 'v',
                          domains: ['*'],
                          routes: clusters.map(([name]) => ({
                            match: { path: `/${name}` },
                            route: { cluster: name, hash_policy: hash },
                          })),
                        },
                      ],
                    },
                    http_filters: [
                      {
                        name: 'envoy.filters.http.router',
                        typed_config: {
                          '@type':
                            'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
                        },
                      },
                    ],
                  },
                },
              ],
            },
          ],
        },
      ],
    },
  };
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

function get(port, path, headers = {}) {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers, agent }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece) => (text += piece));
      answer.on('end', () => resolve({ status: answer.statusCode, text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

async function poll(ask) {
  for (let left = 200; left > 0; left--) {
    const found = await ask().catch(() => undefined);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('a proxy did not start');
}

/** Starts a proxy and says on which port it listens. */
async function start(command, folder, name, bootstrap) {
  const file = join(folder, `${name}.json`);
  const adminPath = join(folder, `${name}.admin`);
  writeFileSync(file, JSON.stringify(bootstrap));
  const [program, ...first] = command;
  const options = ['-c', file, '--admin-address-path', adminPath, '--concurrency', '2'];
  const child = spawn(program, [...first, ...options, '--use-dynamic-base-id', '-l', 'error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const port = await poll(async () => {
    const admin = Number(readFileSync(adminPath, 'utf8').split(':').at(-1));
    const { status } = await get(admin, '/ready');
    if (status !== 200) return undefined;
    const { text } = await get(admin, '/listeners?format=json');
    return JSON.parse(text).listener_statuses[0].local_address.socket_address.port_value;
  });
  return { child, port };
}

/** Which keys have which headers; some have two lines of a name. */
function headersOf(key) {
  if (key % 10 === 8) return { 'x-key': [`b${key}`, `a${key}`] };
  if (key % 10 === 9) return { 'x-part': `p${key}-x` };
  return { 'x-key': `user-${key}` };
}

async function hostsOf(port, cluster) {
  const hosts = new Array(keyCount);
  let next = 0;
  const ask = async () => {
    while (next < keyCount) {
      const key = next++;
      const path = `/${cluster}${key % 7 === 6 ? `?a=b&q=${key}` : ''}`;
      const { status, text } = await get(port, path, headersOf(key));
      hosts[key] = status === 200 ? text : `status ${status}`;
    }
  };
  await Promise.all(range(CONNECTIONS).map(ask));
  return hosts;
}

const origin = createServer((asked, answer) => answer.end(asked.socket.localAddress));
origin.listen(0, '0.0.0.0');
await once(origin, 'listening');
const folder = mkdtempSync(join(tmpdir(), 'hash-tables-'));
const bootstrap = bootstrapOf(origin.address().port);
const proxies = await Promise.all([
  start([oracle], folder, 'oracle', bootstrap),
  start(values.proxy.split(' '), folder, 'candidate', bootstrap),
]);
let differences = 0;
try {
  for (const cluster of Object.keys(clustersOf(0))) {
    const [real, own] = await Promise.all(proxies.map(({ port }) => hostsOf(port, cluster)));
    const others = range(keyCount).filter((key) => real[key] !== own[key]);
    differences += others.length;
    console.log(`${cluster}: ${keyCount - others.length} of ${keyCount} the same`);
    for (const key of others.slice(0, 3)) {
      console.log(`  ${JSON.stringify(headersOf(key))}: ${real[key]}, and here ${own[key]}`);
    }
  }
} finally {
  for (const { child } of proxies) child.kill('SIGTERM');
  origin.close();
  origin.closeAllConnections();
  agent.destroy();
  const running = proxies.filter(({ child }) => child.exitCode === null);
  await Promise.all(running.map(({ child }) => once(child, 'exit')));
  rmSync(folder, { recursive: true });
}
process.exitCode = differences === 0 ? 0 : 1;
