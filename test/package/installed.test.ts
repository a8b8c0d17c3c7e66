// What is published is what runs: with every Node that package.json promises, each from an installation
// of its own. The oldest builds the addon, as it is built for a user; the others are given
// that, since it has to run with all of them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { packageRoot } from '../../src/base/package-root.js';
import { says, webBootstrap } from '../integration/support/bootstraps.js';
import { Installation, nodes, pack } from './support.js';

let tarball = '';
before((t) => (tarball = pack(t as TestContext)));

test('the tarball has what runs and what builds the addon, and nothing else', () => {
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  const kinds = new Set(files.map((file) => file.replace(/^package\//, '').split('/')[0]));

  assert.deepEqual(
    [...kinds].toSorted(),
    [
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'binding.gyp', 'dist', 'examples', 'native'],
      ...['package.json', 'scripts'],
    ].toSorted(),
  );
  const stray = files.filter((file) =>
    /test|\.ts$|command\.cache|fairlead\.node|stamp|Makefile/.test(file.replace(/\.d\.ts$/, '')),
  );
  assert.deepEqual(stray, []);
});

/** The example that needs nothing else, on ports of the kernel's choice. */
function example(installed: Installation): string {
  return installed
    .read('examples', 'direct-response.yaml')
    .replaceAll(/port_value: \d+/g, 'port_value: 0');
}

const CONFIGURATION = JSON.stringify(webBootstrap([says('/', 'from within')]));

/** Prints what a program sees of its proxy. */
const STORY = `
const proxy = new Proxy(${CONFIGURATION}, { concurrency: 1, logLevel: 'off' });
await proxy.start();
const [listener] = proxy.listeners;
const answer = await fetch('http://127.0.0.1:' + listener?.port);
console.log(listener?.name, await answer.text(), proxy.stat('http.web.downstream_rq_2xx'));
await proxy.stop();
try {
  new Proxy({ nope: 1 });
} catch (error) {
  console.log(error instanceof StartError);
}
`;
const TOLD = 'web from within 1\ntrue\n';

const TYPED = `
import { Proxy, StartError, type ListenerStatus, type ProxyOptions } from 'fairlead';
const options: ProxyOptions = { concurrency: 1, logLevel: 'off', args: ['--service-node', 'a'] };
async function tell(): Promise<string> {
  const proxy: Proxy = new Proxy(${CONFIGURATION}, options);
  await proxy.start();
  const listeners: readonly ListenerStatus[] = proxy.listeners;
  const [address, count]: [string | undefined, number | undefined] = [
    proxy.adminAddress,
    proxy.stat('server.live'),
  ];
  await proxy.stop();
  return [listeners[0]?.name, address?.split(':')[0], count, new StartError('x').message].join(' ');
}
void tell().then((text) => console.log(text));
`;

const folder = mkdtempSync(join(tmpdir(), 'fairlead-addon-'));
after(() => rmSync(folder, { recursive: true }));
const addon = join(folder, 'fairlead.node');

for (const major of nodes.MAJORS) {
  test(`with Node ${major} the installed package`, async (t) => {
    const built = existsSync(addon) ? addon : undefined;
    const installed = new Installation(t, tarball, nodes.nodeOf(major), built);
    copyFileSync(installed.file('dist', 'fairlead.node'), addon);

    await t.test('runs, and V8 takes the bytecode that its installation has kept', () => {
      const command = JSON.stringify(installed.file('dist', 'cli.js'));
      installed.write(
        'cached.cjs',
        `process.argv = ['node', 'fairlead', '--hot-restart-version'];
        console.log(process.versions.node.split('.')[0], require(${command}).cachedDataRejected);`,
      );
      const { stdout, stderr } = installed.run('node', 'cached.cjs');
      assert.equal(stdout, `${major} false\n`, stderr);
    });

    await t.test('serves an example by the command, and ends as it is told', async (t) => {
      installed.write('example.yaml', example(installed));
      const options = ['--use-dynamic-base-id', '--admin-address-path', 'admin-address'];
      const proxy = installed.start(t, 'fairlead', '-c', 'example.yaml', ...options);
      await proxy.says(/starting main dispatch loop/);
      const admin = readFileSync(join(installed.folder, 'admin-address'), 'utf8');
      const listeners = await (await fetch(`http://${admin}/listeners`)).text();
      const [, port] = /^web::.*:(\d+)$/m.exec(listeners) ?? [];

      assert.equal(await (await fetch(`http://127.0.0.1:${port}/healthz`)).text(), 'ok\n');
      assert.equal((await fetch(`http://${admin}/ui`)).status, 200);
      assert.equal((await proxy.end()).code, 0);
    });

    await t.test('is a library for import and for require', () => {
      installed.write('imports.mjs', `import { Proxy, StartError } from 'fairlead';${STORY}`);
      installed.write(
        'requires.cjs',
        `const { Proxy, StartError } = require('fairlead');(async () => {${STORY}})();`,
      );
      for (const name of ['imports.mjs', 'requires.cjs']) {
        const { status, stdout, stderr } = installed.run('node', name);
        assert.deepEqual([status, stdout, stderr], [0, TOLD, '']);
      }
    });

    await t.test('has types for all that it gives, in either kind of module', () => {
      const compiler = join(packageRoot(), 'node_modules', 'typescript', 'bin', 'tsc');
      const compilerOptions = {
        ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'], types: [] },
        ...{ strict: true, skipLibCheck: false, outDir: 'compiled' },
      };
      const files = ['typed.mts', 'typed.cts'];
      for (const name of files) installed.write(name, TYPED);
      installed.write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
      const { status, stdout } = installed.run('node', compiler, '-p', '.');
      assert.equal(status, 0, stdout);
      for (const name of ['typed.mjs', 'typed.cjs']) {
        const run = installed.run('node', join('compiled', name));
        assert.deepEqual([run.status, run.stdout, run.stderr], [0, 'web 127.0.0.1 1 x\n', '']);
      }
    });

    await t.test("runs the README's program as it stands", () => {
      const [, program = ''] = /```ts\n([^]*?)```/.exec(installed.read('README.md')) ?? [];
      installed.write('bootstrap.yaml', example(installed));
      installed.write('readme.mjs', program);
      const { status, stdout, stderr } = installed.run('node', 'readme.mjs');
      assert.equal(status, 0, stderr);
      assert.match(stdout, /name: 'web'[^]* 0\n$/);
    });

    await t.test('replaces itself under its restarter', async (t) => {
      installed.write('restarted.yaml', example(installed));
      const options = ['-c', 'restarted.yaml', '--use-dynamic-base-id', '--drain-time-s', '1'];
      const restarter = installed.start(t, 'fairlead-hot-restarter', ...options);
      await restarter.says(/epoch 0 \(pid \d+\) is LIVE/);
      restarter.process.kill('SIGHUP');
      await restarter.says(/epoch 1 \(pid \d+\) is LIVE/);
      assert.equal((await restarter.end()).code, 0);
    });
  });
}
