// The integration test of go-control-plane, as it is, with this proxy in the place of Envoy: its control
// plane sends clusters, hosts, listeners, routes, scopes, virtual hosts, secrets and runtime layers in each
// of five ways, three versions of them, in the clear and over TLS. It is a Go program: where there is no
// Go, or no way to its modules, nothing is said.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as listenTcp, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Command, makeFolder, Program } from './support/start-proxy.js';

const MODULE = 'github.com/envoyproxy/go-control-plane';
const VERSION = 'v0.14.0';
const MESSAGE = 'Hi, there!';
const WAYS = ['ads', 'xds', 'rest', 'delta', 'delta-ads'];
/** Listeners of HTTP, of scopes, of virtual hosts, and of TCP: two of each. */
const LISTENERS = 8;
/** What one run takes of them, in a row. */
const PORTS = LISTENERS + 4;

const run = promisify(execFile);

interface Driver {
  readonly program: string;
  /** Where its bootstraps are. */
  readonly samples: string;
}

/** Undefined: it cannot be had. */
async function build(t: TestContext): Promise<Driver | undefined> {
  const folder = makeFolder(t);
  const program = join(folder, 'driver');
  const go = (...args: readonly string[]) =>
    run('go', args, {
      cwd: folder,
      env: { ...process.env, GOFLAGS: '-mod=mod -p=1', GOTOOLCHAIN: 'local' },
      timeout: 300_000,
    });
  try {
    writeFileSync(join(folder, 'go.mod'), 'module driver\n\ngo 1.23\n');
    await go('get', `${MODULE}/pkg/test/main@${VERSION}`);
    await go('build', '-o', program, `${MODULE}/pkg/test/main`);
    const { stdout } = await go('list', '-m', '-f', '{{.Dir}}', MODULE);
    return { program, samples: join(stdout.trim(), 'sample') };
  } catch (error) {
    t.skip(`go-control-plane's test cannot be built: ${String(error).slice(0, 200)}`);
    return undefined;
  }
}

async function startOrigin(t: TestContext): Promise<number> {
  const origin = createServer((_, response) => response.end(MESSAGE));
  t.after(() => {
    origin.closeAllConnections();
    origin.close();
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  return (origin.address() as AddressInfo).port;
}

/** So many ports in a row that nobody has. */
async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const servers = Array.from({ length: count }, (_, index) =>
      listenTcp().listen(first + index, '127.0.0.1'),
    );
    const areFree = await Promise.all(
      servers.map((server) =>
        Promise.race([
          once(server, 'listening').then(() => true),
          once(server, 'error').then(() => false),
        ]).catch(() => false),
      ),
    );
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    if (areFree.every(Boolean)) return first;
  }
}

/** `base`: the first of PORTS that nobody has. */
async function play(
  t: TestContext,
  driver: Driver,
  base: number,
  way: string,
  withTls: boolean,
): Promise<void> {
  const upstream = await startOrigin(t);
  const [port, gateway, als, admin] = [0, 1, 2, 3].map((place) => base + LISTENERS + place);
  const others = new Map([
    ['18000', port],
    ['18001', gateway],
    ['18090', als],
    ['19000', admin],
  ]);
  const sample = readFileSync(join(driver.samples, `bootstrap-${way}.yaml`), 'utf8');
  const bootstrap = join(makeFolder(t), 'bootstrap.yaml');
  const own = sample.replace(/\b(?:18000|18001|18090|19000)\b/g, (known) =>
    String(others.get(known)),
  );
  writeFileSync(bootstrap, own);
  const options = ['--drain-time-s', '1', '--concurrency', '1', '--base-id', String(base)];
  const proxy = new Command(t, '-c', bootstrap, ...options);
  // Of so many batches of each version one must go well, in the time that a busy machine takes to start. Over
  // REST the first question comes before there is a version, and the next a second later.
  const batches = way === 'rest' ? 20 : 15;
  const args = [
    ...[`--xds=${way}`, `--runtimes=${way === 'ads' ? 2 : 1}`, `--message=${MESSAGE}`],
    ...[`--port=${port}`, `--gateway=${gateway}`, `--als=${als}`],
    ...[`--upstream=${upstream}`, `--base=${base}`, '--delay=250ms', `-r=${batches}`],
    ...(withTls ? ['--tls'] : []),
  ];
  const test = new Program(t, [driver.program, ...args]);
  const { code, stderr } = await test.ended;
  assert.equal(code, 0, `${stderr.slice(-4000)}\n${proxy.stderr.slice(-4000)}`);
}

test("go-control-plane's own test passes", { concurrency: 2 }, async (t) => {
  const driver = await build(t);
  if (!driver) return;
  for (const way of WAYS) {
    // Side by side: they wait more than they work.
    const base = await freePorts(2 * PORTS);
    await Promise.all([
      t.test(way, (t) => play(t, driver, base, way, false)),
      t.test(`${way}, over TLS`, (t) => play(t, driver, base + PORTS, way, true)),
    ]);
  }
});
