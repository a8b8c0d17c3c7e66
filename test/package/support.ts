// A package as users get it: packed, installed into an empty folder by some Node, and run by it.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { packageRoot } from '../../src/base/package-root.js';
import { Program } from '../integration/support/start-proxy.js';

interface Nodes {
  readonly MAJORS: readonly number[];
  nodeOf(major: number): string;
}

/** scripts/nodes.mjs */
export const nodes = (await import(join(packageRoot(), 'scripts', 'nodes.mjs'))) as Nodes;

/** Without what the npm that runs these tests tells those that it starts. */
function environment(node: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('npm_') || name === 'npm_config_registry',
  );
  const { PATH: path = '' } = process.env;
  // The one that runs this is found already, and the compiler that is found before it stays the first.
  const others = node === process.execPath ? '' : `${dirname(node)}${delimiter}`;
  return { ...Object.fromEntries(own), PATH: `${others}${path}` };
}

/** The tarball's path. */
export function pack(t: TestContext): string {
  const folder = makeFolder(t);
  const args = ['pack', '--json', '--pack-destination', folder];
  const output = execFileSync('npm', args, {
    cwd: packageRoot(),
    env: environment(process.execPath),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [, name = ''] = /"filename": "([^"]+\.tgz)"/.exec(output) ?? [];
  return join(folder, name);
}

/** A folder that no other package.json is above. */
function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead package '));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Installation {
  readonly folder: string;
  readonly #env: NodeJS.ProcessEnv;

  /** `addon`: one that was built already, so that this takes seconds; its file. */
  constructor(t: TestContext, tarball: string, node: string, addon?: string) {
    this.folder = makeFolder(t);
    this.#env = environment(node);
    writeFileSync(join(this.folder, 'package.json'), '{ "private": true }\n');
    const options = ['--no-audit', '--no-fund', '--foreground-scripts', '--loglevel=error'];
    if (addon !== undefined) options.push('--ignore-scripts');
    this.#must('npm', 'install', ...options, tarball);
    if (addon === undefined) return;
    copyFileSync(addon, this.file('dist', 'fairlead.node'));
    this.#must('node', this.file('scripts', 'code-cache.mjs'));
  }

  #must(command: string, ...args: readonly string[]): void {
    const { status, stdout, stderr } = this.run(command, ...args);
    if (status !== 0) throw new Error(`${command} ${args[0]} fails:\n${stdout}\n${stderr}`);
  }

  /** A file of the installed package. */
  file(...path: readonly string[]): string {
    return join(this.folder, 'node_modules', 'fairlead', ...path);
  }

  read(...path: readonly string[]): string {
    return readFileSync(this.file(...path), 'utf8');
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Runs something in the folder to its end. */
  run(command: string, ...args: readonly string[]): Run {
    return spawnSync(command, args, {
      cwd: this.folder,
      env: this.#env,
      encoding: 'utf8',
      timeout: 900_000,
    });
  }

  /** Starts a command of the package as its user does. */
  start(t: TestContext, name: string, ...args: readonly string[]): Program {
    const command = join('node_modules', '.bin', name);
    return new Program(t, [command, ...args], { cwd: this.folder, env: this.#env }, 'SIGTERM');
  }
}
