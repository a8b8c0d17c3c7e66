// The command as a user runs it: its arguments, what it prints, how it ends. FAIRLEAD_TEST_COMMAND names
// another command: the same stories can be told of the real server.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../../src/base/package-root.js';

const START_TIMEOUT_MS = 15_000;
const END_TIMEOUT_MS = 30_000;
const POLL_MS = 10;

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process, from its first moment. It is ended when the story ends. */
export class Program {
  readonly process: ChildProcess;
  readonly ended: Promise<Ending>;
  #stdout = '';
  #stderr = '';

  constructor(
    t: TestContext,
    commandLine: readonly string[],
    options: SpawnOptions = {},
    lastSignal: NodeJS.Signals = 'SIGKILL',
  ) {
    const [program = '', ...args] = commandLine;
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (text: Buffer) => (this.#stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (this.#stderr += text.toString()));
    this.process = child;
    this.ended = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
    t.after(() => this.end(lastSignal));
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves when stderr has this; rejects with what it has when that is all there will be. */
  async says(pattern: RegExp): Promise<void> {
    await this.#has(pattern, () => this.#stderr);
  }

  /** The same of stdout. */
  async prints(pattern: RegExp): Promise<void> {
    await this.#has(pattern, () => this.#stdout);
  }

  async #has(pattern: RegExp, text: () => string): Promise<void> {
    const end = Date.now() + END_TIMEOUT_MS;
    while (!pattern.test(text())) {
      const { exitCode, signalCode } = this.process;
      if (exitCode !== null || signalCode !== null || Date.now() > end) {
        throw new Error(
          `there is no ${String(pattern)} in:\n${text()}\n${this.#stderr}\n${signalCode ?? ''}`,
        );
      }
      await sleep(POLL_MS);
    }
  }

  /** Ends it by a signal, and says how it ended. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.process.kill(signal);
    const timer = setTimeout(() => this.process.kill('SIGKILL'), END_TIMEOUT_MS);
    const ending = await this.ended;
    clearTimeout(timer);
    return ending;
  }
}

/** The proxy's command. */
export class Command extends Program {
  constructor(t: TestContext, ...args: readonly string[]) {
    const usual = `${process.execPath} ${packageRoot()}/dist/cli.js`;
    super(t, [...(process.env.FAIRLEAD_TEST_COMMAND ?? usual).split(' '), ...args]);
  }
}

/** Runs the command to its end. */
export function runCommand(t: TestContext, ...args: readonly string[]): Promise<Ending> {
  return new Command(t, ...args).ended;
}

/** A folder for one story. */
export function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface StartedProxy {
  readonly command: Command;
  /** The admin server's: "http://127.0.0.1:9901". */
  readonly adminUrl: string;
  /** "http://127.0.0.1:10000" of the listener of this name. */
  listenerUrl(name: string): Promise<string>;
}

/** Starts a bootstrap whose ports are 0; resolves when /ready says LIVE. */
export async function startProxy(
  t: TestContext,
  bootstrap: object,
  ...args: readonly string[]
): Promise<StartedProxy> {
  const folder = makeFolder(t);
  const [config, addressFile] = [join(folder, 'bootstrap.json'), join(folder, 'admin-address')];
  writeFileSync(config, JSON.stringify(bootstrap));
  const command = new Command(
    t,
    ...['-c', config, '--use-dynamic-base-id'],
    ...(args.includes('--concurrency') ? [] : ['--concurrency', '1']),
    ...['--admin-address-path', addressFile],
    ...args,
  );
  const adminUrl = await untilLive(command, addressFile);
  return {
    command,
    adminUrl,
    listenerUrl: (name) => findListener(adminUrl, name),
  };
}

/** Resolves with the address of the admin server, which is to be written to that file. */
export async function untilLive(command: Program, addressFile: string): Promise<string> {
  const end = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < end && command.process.exitCode === null) {
    const address = existsSync(addressFile) ? readFileSync(addressFile, 'utf8') : '';
    const ready = address === '' ? undefined : await tryGet(`http://${address}/ready`);
    if (ready === 200) return `http://${address}`;
    await sleep(POLL_MS);
  }
  throw new Error(`the proxy does not become LIVE:\n${command.stderr}`);
}

async function tryGet(url: string): Promise<number | undefined> {
  try {
    return (await fetch(url)).status;
  } catch {
    return undefined;
  }
}

/** The port of the listener of this name. */
export async function listenerPort(adminUrl: string, name: string): Promise<number> {
  return Number(new URL(await findListener(adminUrl, name)).port);
}

interface ListenersJson {
  readonly listener_statuses?: readonly {
    readonly name: string;
    readonly local_address: {
      readonly socket_address: { readonly address: string; readonly port_value: number };
    };
  }[];
}

async function findListener(adminUrl: string, name: string): Promise<string> {
  const listeners = (await (
    await fetch(`${adminUrl}/listeners?format=json`)
  ).json()) as ListenersJson;
  const found = listeners.listener_statuses?.find((status) => status.name === name);
  if (!found) throw new Error(`there is no listener '${name}': ${JSON.stringify(listeners)}`);
  const { address, port_value: port } = found.local_address.socket_address;
  return `http://${address}:${port}`;
}
