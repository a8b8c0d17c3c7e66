// The command, running for one story. FAIRLEAD_TEST_COMMAND names another one: the same stories can
// be told of Envoy.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../../src/package-root.js';

const START_TIMEOUT_MS = 15_000;
const STAT_TIMEOUT_MS = 5_000;
const POLL_MS = 10;

export interface RunningProxy {
  /** Of its one listener. */
  readonly port: number;
  readonly process: ChildProcess;
  /** A counter's or gauge's value; 0 when it does not exist yet. */
  stat(name: string): Promise<number>;
  /** Resolves when the statistic has this value; rejects with what it is after a few seconds. */
  statBecomes(name: string, value: number): Promise<void>;
  residentBytes(): number;
}

/** Resolves when the proxy is LIVE; it is stopped when the story ends, and must end well then. */
export async function runProxy(
  t: TestContext,
  bootstrap: object,
  { concurrency = 1 }: { readonly concurrency?: number } = {},
): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
  const config = join(folder, 'bootstrap.json');
  const adminFile = join(folder, 'admin');
  writeFileSync(config, JSON.stringify(bootstrap));

  const [program = '', ...first] = (
    process.env.FAIRLEAD_TEST_COMMAND ?? `${process.execPath} ${packageRoot()}/dist/cli.js`
  ).split(' ');
  const args = ['-c', config, '--concurrency', String(concurrency), '--use-dynamic-base-id'];
  const child = spawn(program, [...first, ...args, '--admin-address-path', adminFile], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (text: Buffer) => (log = (log + text.toString()).slice(-20_000)));
  const ended = new Promise<string>((resolve) => {
    child.on('close', (code, signal) => resolve(signal ?? `exit code ${code ?? '?'}`));
  });
  t.after(async () => {
    child.kill('SIGTERM');
    const how = await ended;
    rmSync(folder, { recursive: true });
    if (how !== 'exit code 0') throw new Error(`the proxy ended with ${how}:\n${log}`);
  });

  const admin = await untilLive(adminFile, child, () => log);
  return {
    port: await listenerPort(admin),
    process: child,
    stat: (name) => readStat(admin, name),
    statBecomes: (name, value) => waitForStat(admin, name, value),
    residentBytes: () => residentBytes(child.pid),
  };
}

/** The admin server's address, "127.0.0.1:9901". */
async function untilLive(
  adminFile: string,
  child: ChildProcess,
  log: () => string,
): Promise<string> {
  const end = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < end && child.exitCode === null) {
    const address = existsSync(adminFile) ? readFileSync(adminFile, 'utf8').trim() : '';
    if (address !== '' && (await isReady(address))) return address;
    await sleep(POLL_MS);
  }
  throw new Error(`the proxy does not start:\n${log()}`);
}

async function isReady(admin: string): Promise<boolean> {
  try {
    return (await fetch(`http://${admin}/ready`)).status === 200;
  } catch {
    return false;
  }
}

async function listenerPort(admin: string): Promise<number> {
  const text = await (await fetch(`http://${admin}/listeners`)).text();
  const port = /^main::.*:(\d+)$/m.exec(text)?.[1];
  if (port === undefined) throw new Error(`no listener is called main: ${text}`);
  return Number(port);
}

async function readStat(admin: string, name: string): Promise<number> {
  const filter = encodeURIComponent(`^${name.replaceAll('.', '\\.')}$`);
  const text = await (await fetch(`http://${admin}/stats?filter=${filter}`)).text();
  return Number(/: (\d+)$/m.exec(text)?.[1] ?? 0);
}

async function waitForStat(admin: string, name: string, value: number): Promise<void> {
  const end = Date.now() + STAT_TIMEOUT_MS;
  let seen = await readStat(admin, name);
  while (seen !== value) {
    if (Date.now() > end) throw new Error(`${name} is ${seen}, not ${value}`);
    await sleep(POLL_MS);
    seen = await readStat(admin, name);
  }
}

function residentBytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
