// A started proxy with what the stories of this folder ask of it: its port, its numbers, its memory.
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProxy, type StartedProxy } from '../support/start-proxy.js';

const STAT_TIMEOUT_MS = 5_000;
const POLL_MS = 10;

export interface RunningProxy {
  /** Of its one listener. */
  readonly port: number;
  /** A counter's or gauge's value; 0 when it does not exist yet. */
  stat(name: string): Promise<number>;
  /** Resolves when the statistic has this value; rejects with what it is after a few seconds. */
  statBecomes(name: string, value: number): Promise<void>;
  residentBytes(): number;
  readonly pid: number;
  /** Resolves when the log has it. */
  says(pattern: RegExp): Promise<void>;
  /** A runtime key of the admin layer. */
  setRuntime(key: string, value: number): Promise<void>;
}

/** Resolves when the proxy is LIVE. Whatever the story did to it, it must end well afterwards. */
export async function runProxy(
  t: TestContext,
  bootstrap: object,
  ...args: readonly string[]
): Promise<RunningProxy> {
  let started: StartedProxy | undefined;
  t.after(async () => {
    const ending = await started?.command.end();
    if (ending && ending.code !== 0) {
      const how = ending.signal ?? `exit code ${ending.code}`;
      throw new Error(`the proxy ended with ${how}:\n${ending.stderr}`);
    }
  });
  const { command, adminUrl, listenerUrl } = (started = await startProxy(t, bootstrap, ...args));
  return {
    port: Number(new URL(await listenerUrl('main')).port),
    stat: (name) => readStat(adminUrl, name),
    statBecomes: (name, value) => waitForStat(adminUrl, name, value),
    residentBytes: () => residentBytes(command.process.pid),
    pid: command.process.pid ?? 0,
    says: (pattern) => command.says(pattern),
    setRuntime: async (key, value) => {
      await fetch(`${adminUrl}/runtime_modify?${key}=${value}`, { method: 'POST' });
    },
  };
}

async function readStat(adminUrl: string, name: string): Promise<number> {
  const filter = encodeURIComponent(`^${name.replaceAll('.', '\\.')}$`);
  const text = await (await fetch(`${adminUrl}/stats?filter=${filter}`)).text();
  return Number(/: (\d+)$/m.exec(text)?.[1] ?? 0);
}

async function waitForStat(adminUrl: string, name: string, value: number): Promise<void> {
  const end = Date.now() + STAT_TIMEOUT_MS;
  let seen = await readStat(adminUrl, name);
  while (seen !== value) {
    if (Date.now() > end) throw new Error(`${name} is ${seen}, not ${value}`);
    await sleep(POLL_MS);
    seen = await readStat(adminUrl, name);
  }
}

function residentBytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
