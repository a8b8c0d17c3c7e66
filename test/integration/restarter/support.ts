// The restarter as a user runs it, with scripts in the place of a proxy.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { packageRoot } from '../../../src/base/package-root.js';
import { Program } from '../support/start-proxy.js';

export interface RestarterOptions {
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export class Restarter extends Program {
  constructor(t: TestContext, words: readonly string[], { folder, env }: RestarterOptions = {}) {
    const program = [process.execPath, join(packageRoot(), 'dist', 'hot-restarter.js')];
    const options = { cwd: folder, env: { ...process.env, ...env } };
    // It would leave its processes behind if it were killed.
    const isPatient = words.some((word) => word.startsWith('--term-wait-s'));
    const patience = isPatient ? [] : ['--term-wait-s=2'];
    super(t, [...program, ...patience, ...words], options, 'SIGTERM');
  }

  /** The process of an epoch, once it is LIVE. */
  async live(epoch: number): Promise<number> {
    await this.says(new RegExp(`epoch ${epoch} \\(pid \\d+\\) is LIVE`));
    const pids = [...this.stderr.matchAll(/epoch (\d+) \(pid (\d+)\) is LIVE/g)];
    return Number(pids.findLast((found) => found[1] === String(epoch))?.[2]);
  }
}

/** What a proxy does that has nothing to do: it ends as it is told, or when the restarter is gone. */
export const SERVE = `
trap 'exit 0' TERM
trap 'echo "reopened $RESTART_EPOCH"' USR1
echo "epoch $RESTART_EPOCH is there"
while kill -0 "$PPID"; do sleep 0.02; done`;

export const SAY_READY = 'echo READY=1 >&"$FAIRLEAD_NOTIFY_FD"';

/** Says that it is LIVE as soon as it bears signals. */
export const READY_AND_SERVE = SERVE.replace('while', `${SAY_READY}\nwhile`);

export function writeScript(folder: string, ...lines: readonly string[]): string {
  const path = join(folder, 'start.sh');
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

/** What a service manager hears on a socket: Node itself has no such sockets. */
export class FakeManager extends Program {
  constructor(t: TestContext, socketName: string) {
    const text = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace("@", "\\0", 1))
print("listening", flush=True)
while True: print(s.recv(4096).decode().replace("\\n", " "), flush=True)`;
    super(t, ['python3', '-c', text, socketName]);
  }

  /** All messages until one that is like this. */
  async hears(pattern: RegExp): Promise<readonly string[]> {
    await this.prints(pattern);
    return this.stdout.trimEnd().split('\n').slice(1);
  }
}
