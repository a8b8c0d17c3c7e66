// The examples answer as they stand: every curl line at the top of one shows what stands beside it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { packageRoot } from '../../src/base/package-root.js';
import { loadAddon, type SocketOption } from '../../src/native.js';
import { Command, makeFolder } from './support/start-proxy.js';

const folder = join(packageRoot(), 'examples');
const examples = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

const ADMIN_PORT = '9901';

/** SO_REUSEPORT: as listeners have it, so that one can be opened beside such a socket. */
const SHARED: SocketOption = {
  level: 1,
  name: 15,
  value: new Uint8Array(Int32Array.of(1).buffer),
  state: 0,
};

/** A port of the kernel's choice that is nobody else's until it is released. */
function reservePort(): { readonly port: string; release(): void } {
  const { fd, address, error } = loadAddon().openListenSocket('127.0.0.1:0', 0, [SHARED]);
  assert.equal(error, '');
  return { port: address.split(':')[1] ?? '', release: () => closeSync(fd) };
}

interface Line {
  readonly command: string;
  /** One of these is in what it prints. */
  readonly shows: readonly string[];
}

/** The curl lines of an example's first comment, and what is said to come of them. */
function linesOf(text: string): readonly Line[] {
  const lines = [...text.matchAll(/^# {3}(curl .+?) {2,}# (.+)$/gm)];
  return lines.map(([, command = '', shows = '']) => ({ command, shows: shows.split(' or ') }));
}

/** Runs an example on free ports; gives what replaces the ports that it names. */
async function serve(t: TestContext, text: string): Promise<(text: string) => string> {
  const ports = new Set([...text.matchAll(/port_value: (\d+)/g)].map(([, port = '']) => port));
  ports.delete(ADMIN_PORT);
  const reserved = new Map([...ports].map((port) => [port, reservePort()]));
  const own = makeFolder(t);
  const [path, admin] = [join(own, 'example.yaml'), join(own, 'admin-address')];
  const replaced = (port: string): string =>
    port === ADMIN_PORT ? '0' : (reserved.get(port)?.port ?? port);
  writeFileSync(
    path,
    text.replaceAll(/port_value: (\d+)/g, (_, port: string) => `port_value: ${replaced(port)}`),
  );
  const options = ['--use-dynamic-base-id', '--concurrency', '1', '--admin-address-path', admin];
  const command = new Command(t, '-c', path, ...options);
  await command.says(/starting main dispatch loop/);
  for (const { release } of reserved.values()) release();
  const adminPort = readFileSync(admin, 'utf8').split(':')[1] ?? '';
  return (line) =>
    line.replaceAll(
      /(localhost|127\.0\.0\.1):(\d+)/g,
      (_, host: string, port: string) =>
        `${host}:${port === ADMIN_PORT ? adminPort : replaced(port)}`,
    );
}

for (const name of examples) {
  test(`examples/${name} answers as its comment says`, async (t) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const lines = linesOf(text);
    assert.ok(lines.length > 0);
    const here = await serve(t, text);

    for (const { command, shows } of lines) {
      const { stdout, stderr } = spawnSync('sh', ['-c', here(command)], { encoding: 'utf8' });
      const isShown = shows.some((expected) => stdout.includes(here(expected)));
      assert.ok(isShown, `${command} shows:\n${stdout}${stderr}`);
    }
  });
}

test('examples/README.md lists every example and nothing else', () => {
  const text = readFileSync(join(folder, 'README.md'), 'utf8');
  const listed = [...text.matchAll(/^\| \[(.+\.yaml)\]/gm)].map((match) => match[1]);
  assert.deepEqual(listed.toSorted(), examples.toSorted());
});
