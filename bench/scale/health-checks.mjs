// What active health checks cost: 1,000 hosts on loopback, each asked every second by HTTP, by Envoy
// (FAIRLEAD_BENCH_ENVOY) and by fairlead one after the other; CPU of each in the same run.
//   node bench/scale/health-checks.mjs [hosts] [seconds]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const HOSTS = Number(process.argv[2] ?? 1000);
const SECONDS = Number(process.argv[3] ?? 10);
const TICKS_PER_SECOND = 100;

const folder = mkdtempSync(join(tmpdir(), 'fairlead-checks-'));
const seen = new Map();
const hosts = createServer((request, response) => {
  const now = performance.now();
  const address = request.socket.localAddress;
  const last = seen.get(address);
  if (last !== undefined) latest.push(now - last);
  seen.set(address, now);
  response.end('ok');
});
let latest = [];
await new Promise((resolve) => hosts.listen(0, '0.0.0.0', resolve));
hosts.keepAliveTimeout = 60_000;
const { port } = hosts.address();

function bootstrap() {
  const endpoint = (_, i) => ({
    endpoint: {
      address: {
        socket_address: { address: `127.${1 + (i >> 8)}.7.${i & 255}`, port_value: port },
      },
    },
  });
  return {
    admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } },
    static_resources: {
      clusters: [
        {
          name: 'checked',
          load_assignment: {
            cluster_name: 'checked',
            endpoints: [{ lb_endpoints: Array.from({ length: HOSTS }, endpoint) }],
          },
          health_checks: [
            {
              timeout: '1s',
              interval: '1s',
              no_traffic_interval: '1s',
              initial_jitter: '1s',
              unhealthy_threshold: 2,
              healthy_threshold: 2,
              http_health_check: { path: '/' },
            },
          ],
        },
      ],
    },
  };
}

function cpuTicks(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

async function measure(name, command, args) {
  const config = join(folder, 'bootstrap.json');
  writeFileSync(config, JSON.stringify(bootstrap()));
  seen.clear();
  const options = ['-c', config, '--concurrency', '1', '--use-dynamic-base-id', '-l', 'error'];
  const child = spawn(command, [...args, ...options], { stdio: 'inherit' });
  try {
    await sleep(3000);
    latest = [];
    const before = cpuTicks(child.pid);
    await sleep(SECONDS * 1000);
    const cpuMs = ((cpuTicks(child.pid) - before) / TICKS_PER_SECOND) * 1000;
    const gaps = latest.sort((a, b) => a - b);
    const at = (share) => gaps[Math.floor((gaps.length - 1) * share)]?.toFixed(1);
    console.log(
      `${name}: ${(cpuMs / SECONDS / 10).toFixed(2)} % of a CPU, ${gaps.length} checks, ` +
        `between two of a host ${at(0)} to ${at(1)} ms (p50 ${at(0.5)}, p99 ${at(0.99)})`,
    );
    return cpuMs;
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
  }
}

const ours = await measure('fairlead', process.execPath, ['dist/cli.js']);
const envoy = process.env.FAIRLEAD_BENCH_ENVOY;
if (envoy) {
  const theirs = await measure('envoy', envoy, []);
  console.log(`fairlead / envoy: ${(ours / theirs).toFixed(2)}`);
}
hosts.close();
hosts.closeAllConnections();
rmSync(folder, { recursive: true });
