// The library: a proxy inside a Node program.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { envoy_config_bootstrap_v3_Bootstrap } from '../build/messages.gen.js';
import { parseArguments } from './cli/parse.js';
import { Log } from './logging/logger.js';
import type { ListenerStatus } from './native.js';
import { Server, StartError } from './server/server.js';

export { StartError };
export type Bootstrap = envoy_config_bootstrap_v3_Bootstrap;

export interface ProxyOptions {
  /** Worker threads; as many as processors by default. */
  readonly concurrency?: number;
  /** trace, debug, info, warning (default), error, critical or off. */
  readonly logLevel?: string;
}

/** A proxy that runs in this process, on threads of its own. */
export class Proxy {
  readonly #server: Server;

  /**
   * Reads and compiles the configuration: a bootstrap's path, or the bootstrap as the JSON of its
   * proto3 mapping. Throws a StartError that holds every problem.
   */
  constructor(bootstrap: string | object, options: ProxyOptions = {}) {
    const folder = typeof bootstrap === 'string' ? undefined : mkdtempSync(join(tmpdir(), 'fairlead-'));
    try {
      const path = folder === undefined ? (bootstrap as string) : join(folder, 'bootstrap.json');
      if (folder !== undefined) writeFileSync(path, JSON.stringify(bootstrap));
      const args = ['-c', path, '-l', options.logLevel ?? 'warning'];
      if (options.concurrency !== undefined) args.push('--concurrency', String(options.concurrency));
      const parsed = parseArguments(args);
      if (parsed.kind !== 'options') throw new StartError('message' in parsed ? parsed.message : `bad options: ${parsed.kind}`);
      const { options: settings } = parsed;
      this.#server = new Server(settings, new Log({ level: settings.logLevel, pattern: settings.logFormat, componentLevels: settings.componentLevels }));
    } finally {
      if (folder !== undefined) rmSync(folder, { recursive: true });
    }
  }

  /** Resolves when the proxy accepts connections. */
  start(): Promise<void> {
    return this.#server.start();
  }

  /** Ends all connections. Resolves when everything is closed. */
  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** "127.0.0.1:9901"; undefined without an admin server. */
  get adminAddress(): string | undefined {
    return this.#server.adminAddress;
  }

  /** Listeners with the ports that the kernel gave. */
  listeners(): readonly ListenerStatus[] {
    return this.#server.native.listeners();
  }

  /** A counter's or gauge's value now, by its full name. */
  stat(name: string): number | undefined {
    return this.#server.native.statValue(name);
  }
}
