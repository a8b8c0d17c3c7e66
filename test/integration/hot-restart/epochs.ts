// Processes of one base id, one after the other, as a supervisor starts them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, makeFolder } from '../support/start-proxy.js';

const START_TIMEOUT_MS = 20_000;
const POLL_MS = 5;

export interface RunningEpoch {
  readonly command: Command;
  readonly adminUrl: string;
  /** How long it took to be LIVE. */
  readonly startMs: number;
}

/** Makes processes of one bootstrap; all listeners and the admin server have port 0. */
export class Epochs {
  readonly #t: TestContext;
  readonly #folder: string;
  readonly #usual: readonly string[];
  #baseId: string | undefined;

  /** `usual`: what all of them are told. */
  constructor(t: TestContext, bootstrap: object, ...usual: readonly string[]) {
    this.#t = t;
    this.#folder = makeFolder(t);
    this.#usual = usual;
    this.configure(bootstrap);
  }

  /** For those that start from here on. */
  configure(bootstrap: object): void {
    writeFileSync(join(this.#folder, 'bootstrap.json'), JSON.stringify(bootstrap));
  }

  /** Does not wait for anything. */
  spawn(epoch: number, ...args: readonly string[]): Command {
    const base =
      this.#baseId === undefined ? ['--use-dynamic-base-id'] : ['--base-id', this.#baseId];
    return new Command(
      this.#t,
      ...['-c', join(this.#folder, 'bootstrap.json'), '--restart-epoch', String(epoch)],
      ...base,
      ...['--base-id-path', join(this.#folder, 'base-id')],
      ...['--admin-address-path', this.#addressFile(epoch)],
      ...(args.includes('--concurrency') ? [] : ['--concurrency', '1']),
      ...this.#usual,
      ...args,
    );
  }

  /** Resolves when it is LIVE. */
  async start(epoch: number, ...args: readonly string[]): Promise<RunningEpoch> {
    writeFileSync(this.#addressFile(epoch), '');
    const began = performance.now();
    const command = this.spawn(epoch, ...args);
    const adminUrl = await this.untilLive(epoch, command);
    this.#baseId ??= readFileSync(join(this.#folder, 'base-id'), 'utf8');
    return { command, adminUrl, startMs: performance.now() - began };
  }

  async untilLive(epoch: number, command: Command): Promise<string> {
    const end = Date.now() + START_TIMEOUT_MS;
    const file = this.#addressFile(epoch);
    while (Date.now() < end && command.process.exitCode === null) {
      const address = existsSync(file) ? readFileSync(file, 'utf8') : '';
      if (address !== '' && (await isLive(address))) return `http://${address}`;
      await sleep(POLL_MS);
    }
    throw new Error(`epoch ${epoch} does not become LIVE:\n${command.stderr}`);
  }

  get baseId(): string {
    return this.#baseId ?? '';
  }

  #addressFile(epoch: number): string {
    return join(this.#folder, `admin-${epoch}`);
  }
}

async function isLive(address: string): Promise<boolean> {
  try {
    return (await fetch(`http://${address}/ready`)).status === 200;
  } catch {
    return false;
  }
}

export async function readStats(
  adminUrl: string,
  filter: string,
): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${adminUrl}/stats?filter=${encodeURIComponent(filter)}`)).text();
  const lines = text.split('\n').filter((line) => /: \d+$/.test(line));
  return new Map(
    lines.map((line) => {
      const colon = line.lastIndexOf(': ');
      return [line.slice(0, colon), Number(line.slice(colon + 2))];
    }),
  );
}
