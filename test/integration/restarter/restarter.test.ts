// fairlead-hot-restarter with scripts in the place of a proxy.
import assert from 'node:assert/strict';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../support/start-proxy.js';
import {
  FakeManager,
  READY_AND_SERVE,
  Restarter,
  SAY_READY,
  SERVE,
  writeScript,
  type RestarterOptions,
} from './support.js';

function startScript(
  t: TestContext,
  lines: readonly string[],
  words: readonly string[] = [],
  options: RestarterOptions = {},
): Restarter {
  const folder = options.folder ?? makeFolder(t);
  writeScript(folder, ...lines);
  return new Restarter(t, [...words, 'start.sh'], { ...options, folder });
}

test('SIGHUP starts the next epoch, SIGUSR1 goes to all, SIGTERM ends all', async (t) => {
  const restarter = startScript(t, [READY_AND_SERVE]);
  const first = await restarter.live(0);
  restarter.process.kill('SIGHUP');
  assert.notEqual(await restarter.live(1), first);
  restarter.process.kill('SIGUSR1');
  await restarter.prints(/reopened 0/);
  await restarter.prints(/reopened 1/);

  const { code, stdout, stderr } = await restarter.end('SIGTERM');
  assert.equal(code, 0);
  assert.match(stdout, /^epoch 0 is there\nepoch 1 is there\n/);
  assert.match(stderr, /epoch 0 \(pid \d+\) exited with code 0/);
  assert.match(stderr, /epoch 1 \(pid \d+\) exited with code 0/);
  assert.doesNotMatch(stderr, /Debugger/);
});

test('SIGINT ends all; SIGUSR2 ends nothing', async (t) => {
  const restarter = startScript(t, [READY_AND_SERVE]);
  await restarter.live(0);
  restarter.process.kill('SIGUSR2');
  await restarter.says(/eating SIGUSR2/);

  assert.equal((await restarter.end('SIGINT')).code, 0);
});

test('what ignores SIGTERM is killed after the wait', async (t) => {
  const deaf = READY_AND_SERVE.replace("trap 'exit 0' TERM", "trap '' TERM");
  const restarter = startScript(t, [deaf], ['--term-wait-s=1']);
  await restarter.live(0);

  const { code, stderr } = await restarter.end('SIGTERM');
  assert.equal(code, 1);
  assert.match(stderr, /epoch 0 \(pid \d+\) was killed by SIGKILL/);
});

test('a second SIGTERM does not wait', async (t) => {
  const deaf = READY_AND_SERVE.replace("trap 'exit 0' TERM", "trap '' TERM");
  const restarter = startScript(t, [deaf], ['--term-wait-s=1000']);
  await restarter.live(0);
  restarter.process.kill('SIGTERM');
  await restarter.says(/sending SIGTERM/);

  assert.equal((await restarter.end('SIGTERM')).code, 1);
});

test('a successor that fails, is missing or late leaves the first serving; a good one takes over', async (t) => {
  const folder = makeFolder(t);
  const restarter = startScript(t, [READY_AND_SERVE], ['--ready-timeout-s=1'], { folder });
  await restarter.live(0);
  const refused: readonly [RegExp, () => void][] = [
    [/exited with code 7 before it was LIVE/, () => writeScript(folder, 'exit 7')],
    [/there is no such command/, () => rmSync(join(folder, 'start.sh'))],
    [/did not become LIVE within 1 s: ending it/, () => writeScript(folder, SERVE)],
    [
      /it is not executable/,
      () => {
        writeScript(folder, READY_AND_SERVE);
        chmodSync(join(folder, 'start.sh'), 0o600);
      },
    ],
  ];
  for (const [index, [pattern, spoil]] of refused.entries()) {
    spoil();
    restarter.process.kill('SIGHUP');
    await restarter.says(pattern);
    const outcomes = /epoch 0 \(pid \d+\) serves on; epoch 1 did not become LIVE/g;
    await restarter.says(new RegExp(`(${outcomes.source}[^]*){${index + 1}}`));
  }
  writeScript(folder, READY_AND_SERVE);
  restarter.process.kill('SIGHUP');
  await restarter.live(1);

  assert.equal((await restarter.end()).code, 0);
});

test("the exit code is that of a first process that fails, or a shell's where there is none", async (t) => {
  const folder = makeFolder(t);
  const notExecutable = join(folder, 'file');
  writeFileSync(notExecutable, '');
  const cases: readonly [number, readonly string[]][] = [
    [7, ['--', 'sh', '-c', 'exit 7']],
    [0, ['--', 'true']],
    [128 + 9, ['--', 'sh', '-c', 'kill -9 $$']],
    [127, ['--', '/nonexistent/proxy']],
    [126, ['--', notExecutable]],
    [1, []],
  ];
  for (const [expected, words] of cases) {
    const { code, stderr } = await new Restarter(t, words).ended;
    assert.equal(code, expected, stderr);
  }
});

test('the proxy is killed: so ends the restarter; with --max-restarts it begins anew', async (t) => {
  const restarter = startScript(t, [READY_AND_SERVE], ['--max-restarts', '1']);
  process.kill(await restarter.live(0), 'SIGKILL');
  await restarter.says(/beginning anew with epoch 0[^]*is LIVE/);
  process.kill(await restarter.live(0), 'SIGKILL');

  assert.equal((await restarter.ended).code, 128 + 9);
});

test('a predecessor that says that it serves again is kept when the successor dies', async (t) => {
  const folder = makeFolder(t);
  const returns = READY_AND_SERVE.replace('while', `trap '${SAY_READY}' USR2\nwhile`);
  const restarter = startScript(t, [returns], [], { folder });
  const first = await restarter.live(0);
  restarter.process.kill('SIGHUP');
  process.kill(await restarter.live(1), 'SIGKILL');
  await restarter.says(/was killed by SIGKILL/);
  process.kill(first, 'SIGUSR2');
  await restarter.says(/epoch 0 \(pid \d+\) serves again/);
  restarter.process.kill('SIGHUP');
  await restarter.says(/(epoch 1 \(pid \d+\) is LIVE[^]*){2}/);

  assert.equal((await restarter.end()).code, 0);
});

for (const kind of ['file', 'abstract'] as const) {
  test(`systemd hears of start, reload and end (${kind} socket), and from the restarter alone`, async (t) => {
    const folder = makeFolder(t);
    const socket = kind === 'file' ? join(folder, 'notify') : `@fairlead-test-${process.pid}`;
    const manager = new FakeManager(t, socket);
    await manager.prints(/listening/);
    const tell = 'echo "socket: $NOTIFY_SOCKET."';
    const env = { NOTIFY_SOCKET: socket };
    const restarter = startScript(t, [tell, READY_AND_SERVE], [], { folder, env });
    const first = await restarter.live(0);
    restarter.process.kill('SIGHUP');
    const second = await restarter.live(1);
    const { stdout } = await restarter.end();

    assert.match(stdout, /^socket: \.$/m);
    const heard = await manager.hears(/STOPPING=1/);
    const usec = /MONOTONIC_USEC=(\d+)/.exec(heard.join('\n'))?.[1] ?? '';
    const nowUsec = Number(process.hrtime.bigint() / 1000n);
    assert.ok(Number(usec) > nowUsec - 60e6 && Number(usec) < nowUsec, `${usec} ${nowUsec}`);
    assert.deepEqual(heard, [
      `MAINPID=${restarter.process.pid}`,
      `STATUS=epoch 0 (pid ${first}) is starting`,
      `READY=1 STATUS=epoch 0 (pid ${first}) serves`,
      `RELOADING=1 MONOTONIC_USEC=${usec}`,
      `STATUS=epoch 1 (pid ${second}) is starting`,
      `READY=1 STATUS=epoch 1 (pid ${second}) serves`,
      'STOPPING=1 STATUS=ending',
    ]);
  });
}

/** An admin server that says what the story wants. */
async function startAdmin(t: TestContext, info: () => object): Promise<string> {
  const server: Server = createServer((request, response) => {
    assert.equal(request.url, '/server_info');
    response.end(JSON.stringify(info()));
  });
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

for (const way of ['--ready-address', '--ready-address-path']) {
  test(`${way}: a process is LIVE when the admin server of its epoch says so`, async (t) => {
    const folder = makeFolder(t);
    let state = 'INITIALIZING';
    let epoch = 0;
    let questions = 0;
    const address = await startAdmin(t, () => {
      questions += 1;
      return { state, command_line_options: { restart_epoch: epoch } };
    });
    const untilAsked = async (count: number): Promise<void> => {
      const goal = questions + count;
      while (questions < goal) await sleep(10);
    };
    const value = way === '--ready-address' ? address : join(folder, 'address');
    const restarter = startScript(t, [SERVE], [way, value], { folder });
    await restarter.says(/epoch 0 \(pid \d+\) is starting/);
    writeFileSync(join(folder, 'address'), `${address}\n`);
    await untilAsked(2);
    assert.doesNotMatch(restarter.stderr, /LIVE/);
    state = 'LIVE';
    await restarter.live(0);

    restarter.process.kill('SIGHUP');
    await untilAsked(2);
    assert.doesNotMatch(restarter.stderr, /epoch 1.*LIVE/);
    epoch = 1;
    await restarter.live(1);
  });
}

test('--ready-after-s: a process is LIVE when it has run for so long', async (t) => {
  const restarter = startScript(t, [SERVE], ['--ready-after-s', '1']);
  await restarter.live(0);
  const tookMs = /LIVE after (\d+) ms/.exec(restarter.stderr)?.[1];
  assert.ok(Number(tookMs) >= 990, restarter.stderr);
});

test('what it cannot understand it says, with exit code 1', async (t) => {
  const { code, stdout, stderr } = await new Restarter(t, ['--max-restart', '2', 'x']).ended;
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^PARSE ERROR: Argument: --max-restart\n.*did you mean --max-restarts\?/);
  assert.match(stderr, /fairlead-hot-restarter --help\n\n$/);
});

test('--help shows every option, --version a version', async (t) => {
  const help = await new Restarter(t, ['--help']).ended;
  assert.deepEqual([help.code, help.stderr], [0, '']);
  for (const name of ['    --ready-timeout-s', '    --max-restarts', '-h, --help']) {
    assert.ok(help.stdout.includes(`\n  ${name} `), help.stdout);
  }
  const version = await new Restarter(t, ['--version']).ended;
  assert.equal(version.code, 0);
  assert.match(version.stdout, /^\nfairlead-hot-restarter {2}version: \w{40}\/\d+\.\d+\.\d+\//);
});
