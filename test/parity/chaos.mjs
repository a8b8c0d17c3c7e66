// Ten hosts that fail, hang, reset and slow down by a script of chance with a seed, under outlier
// detection and retries: what clients see of it and which share each host gets, through fairlead and
// through the real server, one after the other with the same script. Takes two minutes, so CI leaves it out.
//   node test/parity/chaos.mjs [--seed 1] [--seconds 40] [--envoy PATH]     ($FAIRLEAD_BENCH_ENVOY)
// Exits with 1 where errors or shares differ by more than a tenth.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '40' },
    envoy: { type: 'string', default: process.env['FAIRLEAD_BENCH_ENVOY'] ?? '' },
    fairlead: { type: 'string', default: 'dist/cli.js' },
  },
});
const SECONDS = Number(values.seconds);
const HOSTS = 10;
const CLIENTS = 16;
/** Between two requests of a client: all of them ask about as often whatever a proxy does. */
const PAUSE_MS = 20;
const TIMEOUT_S = 0.25;
const TOLERANCE = 0.1;

/** mulberry32: the same numbers for the same seed. */
function chanceOf(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const WAYS = ['fine', 'fine', 'fine', 'fails', 'fails', 'hangs', 'resets', 'slow'];

/** How each host is, second by second; each way lasts a few. */
function scriptOf(seed) {
  const chance = chanceOf(seed);
  return Array.from({ length: HOSTS }, () => {
    const ways = [];
    while (ways.length <= SECONDS + 1) {
      const way = WAYS[Math.floor(chance() * WAYS.length)];
      const lasts = 2 + Math.floor(chance() * 5);
      for (let i = 0; i < lasts; ++i) ways.push(way);
    }
    return ways;
  });
}

async function startHosts(script, clock) {
  const asked = Array.from({ length: HOSTS }, () => 0);
  const servers = script.map((ways, host) =>
    createServer((request, response) => {
      asked[host] += 1;
      const way = ways[Math.max(0, Math.floor((Date.now() - clock.start) / 1000))] ?? 'fine';
      if (way === 'resets') return void request.socket.resetAndDestroy();
      if (way === 'hangs') return;
      const answer = () => response.writeHead(way === 'fails' ? 503 : 200).end(String(host));
      if (way === 'slow') setTimeout(answer, 60);
      else answer();
    }),
  );
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise((resolve) =>
          server.listen(0, '127.0.0.1', () => resolve(server.address().port)),
        ),
    ),
  );
  return {
    asked,
    ports,
    end: () => servers.forEach((server) => (server.closeAllConnections(), server.close())),
  };
}

const EXTENSIONS = 'type.googleapis.com/envoy.extensions.filters';
const address = (port) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

const bootstrapOf = (ports, listener, admin) => ({
  admin: { address: address(admin) },
  static_resources: {
    listeners: [
      {
        name: 'main',
        address: address(listener),
        filter_chains: [
          {
            filters: [
              {
                name: 'envoy.filters.network.http_connection_manager',
                typed_config: {
                  '@type': `${EXTENSIONS}.network.http_connection_manager.v3.HttpConnectionManager`,
                  stat_prefix: 'chaos',
                  http_filters: [
                    {
                      name: 'envoy.filters.http.router',
                      typed_config: { '@type': `${EXTENSIONS}.http.router.v3.Router` },
                    },
                  ],
                  route_config: {
                    virtual_hosts: [
                      {
                        name: 'all',
                        domains: ['*'],
                        routes: [
                          {
                            match: { prefix: '/' },
                            route: {
                              cluster: 'ten',
                              timeout: '2s',
                              retry_policy: {
                                retry_on: '5xx,reset',
                                num_retries: 1,
                                per_try_timeout: `${TIMEOUT_S}s`,
                              },
                            },
                          },
                        ],
                      },
                    ],
                  },
                },
              },
            ],
          },
        ],
      },
    ],
    clusters: [
      {
        name: 'ten',
        connect_timeout: '1s',
        outlier_detection: {
          interval: '1s',
          base_ejection_time: '1s',
          max_ejection_time: '3s',
          max_ejection_percent: 60,
          consecutive_5xx: 3,
          success_rate_request_volume: 10,
          enforcing_failure_percentage: 100,
          failure_percentage_request_volume: 10,
          failure_percentage_threshold: 50,
        },
        load_assignment: {
          cluster_name: 'ten',
          endpoints: [
            { lb_endpoints: ports.map((port) => ({ endpoint: { address: address(port) } })) },
          ],
        },
      },
    ],
  },
});

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function ask(port, agent, path = '/') {
  return new Promise((resolve) => {
    get({ port, agent, path, host: '127.0.0.1' }, (response) => {
      let body = '';
      response
        .on('data', (data) => (body += data))
        .on('end', () => resolve({ status: response.statusCode, body }));
      response.on('error', () => resolve({ status: 0, body: '' }));
    }).on('error', () => resolve({ status: 0, body: '' }));
  });
}

async function play(name, command, script) {
  const clock = { start: Infinity };
  const hosts = await startHosts(script, clock);
  const [listener, admin] = [await freePort(), await freePort()];
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-chaos-'));
  const file = join(folder, 'bootstrap.json');
  writeFileSync(file, JSON.stringify(bootstrapOf(hosts.ports, listener, admin)));
  const [program, ...first] = command;
  const proxy = spawn(
    program,
    [...first, '-c', file, '--concurrency', '1', '-l', 'error', '--use-dynamic-base-id'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  try {
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    while ((await ask(admin, undefined, '/ready')).status !== 200) await sleep(50);
    clock.start = Date.now();
    const until = clock.start + SECONDS * 1000;
    const counts = { asked: 0, errors: 0 };
    const shares = Array.from({ length: HOSTS }, () => 0);
    const client = async () => {
      while (Date.now() < until) {
        const { status, body } = await ask(listener, agent);
        counts.asked += 1;
        if (status === 200) shares[Number(body)] += 1;
        else counts.errors += 1;
        await sleep(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    const { body } = await ask(
      admin,
      undefined,
      '/stats?filter=outlier_detection.ejections_enforced_total',
    );
    agent.destroy();
    return { name, ...counts, shares, ejections: Number(body.split(': ')[1]) };
  } finally {
    proxy.kill('SIGTERM');
    hosts.end();
    rmSync(folder, { recursive: true });
  }
}

const percent = (share) => `${(100 * share).toFixed(2)} %`;
const script = scriptOf(Number(values.seed));
const runs = [
  await play('envoy', [values.envoy], script),
  await play('fairlead', [process.execPath, values.fairlead], script),
];
for (const { name, asked, errors, shares, ejections } of runs) {
  console.log(
    `${name}: ${asked} requests, errors ${percent(errors / asked)}, ejections ${ejections}`,
  );
  console.log(`  shares ${shares.map((share) => percent(share / asked)).join(', ')}`);
}
const [envoy, fairlead] = runs;
/** Of all requests: how far apart the two are. */
const apart = (count) => Math.abs(count(fairlead) / fairlead.asked - count(envoy) / envoy.asked);
const failures = [];
if (apart((run) => run.errors) > TOLERANCE * Math.max(0.05, envoy.errors / envoy.asked)) {
  failures.push('errors');
}
for (let host = 0; host < HOSTS; ++host) {
  if (
    apart((run) => run.shares[host]) >
    TOLERANCE / HOSTS + TOLERANCE * (envoy.shares[host] / envoy.asked)
  ) {
    failures.push(`the share of host ${host}`);
  }
}
if (failures.length > 0) {
  console.error(`more than a tenth apart: ${failures.join(', ')}`);
  process.exitCode = 1;
}
