// The library: a proxy inside a Node program.
import { parseArguments, type Options } from './options/parse.js';
import { Log } from './logging/logger.js';
import type { ListenerStatus } from './base/listener-status.js';
import { readConfiguration } from './server/configuration.js';
import { Server } from './server/server.js';
import { StartError } from './server/start-error.js';

export { StartError } from './server/start-error.js';
export type { ListenerStatus } from './base/listener-status.js';

export interface ProxyOptions {
  /** Worker threads; as many as hardware threads by default. */
  readonly concurrency?: number;
  /**
   * trace, debug, info, warning (default), error, critical or off. The log is the process's: what the
   * last proxy says about it counts.
   */
  readonly logLevel?: string;
  /** Further options of the command line, such as ['--service-cluster', 'web']. */
  readonly args?: readonly string[];
}

/** A proxy in this process, on threads of its own. It is started once and stopped once. */
export class Proxy {
  readonly #server: Server;
  #starting: Promise<void> | undefined;

  /**
   * Reads and compiles a bootstrap: the path of a file, or the bootstrap itself in the JSON form of
   * its proto. Throws a StartError that holds every problem.
   */
  constructor(bootstrap: string | object, options: ProxyOptions = {}) {
    const settings = parseOptions(bootstrap, options);
    const log = new Log({
      level: settings.level,
      componentLevels: settings.componentLevels,
      pattern: settings.logFormat,
      isEscaped: settings.logFormatEscaped,
      isFineGrain: settings.enableFineGrainLogging,
    });
    const problem = settings.logPath === '' ? undefined : log.openFile(settings.logPath);
    if (problem !== undefined)
      throw new StartError(`Failed to open log-file '${settings.logPath}': ${problem}`);
    const configuration = readConfiguration(settings, log);
    this.#server = new Server({ options: settings, configuration, log });
  }

  /**
   * Resolves when the proxy accepts connections, however often it is called; rejects with a StartError,
   * and for a proxy that was stopped.
   */
  start(): Promise<void> {
    if (this.#server.isEnding) {
      return Promise.reject(new StartError(`the proxy has been stopped; ${ANEW}`));
    }
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    void this.#server.quitAsked.then(() => this.stop());
    try {
      await this.#server.start();
    } catch (error) {
      await this.stop();
      throw error;
    }
    if (this.#server.isEnding) {
      throw new StartError(`the proxy has been stopped while it was starting; ${ANEW}`);
    }
  }

  /** Ends all connections. Resolves when everything is closed, however often it is called. */
  stop(): Promise<void> {
    return this.#server.stop();
  }

  /** "127.0.0.1:9901"; undefined without an admin server. */
  get adminAddress(): string | undefined {
    return this.#server.adminAddress;
  }

  /** With the ports that they got. */
  get listeners(): readonly ListenerStatus[] {
    return this.#server.native.listeners();
  }

  /** The value of a counter or a gauge now, by its full name. */
  stat(name: string): number | undefined {
    return this.#server.native.statValue(name);
  }
}

const ANEW = 'expected a new Proxy for a new start';

function parseOptions(
  bootstrap: string | object,
  { concurrency, logLevel, args = [] }: ProxyOptions,
): Options {
  const parsed = parseArguments([
    ...(typeof bootstrap === 'string'
      ? ['-c', bootstrap]
      : ['--config-yaml', JSON.stringify(bootstrap)]),
    ...['-l', logLevel ?? 'warning'],
    ...(concurrency === undefined ? [] : ['--concurrency', String(concurrency)]),
    ...args,
  ]);
  switch (parsed.kind) {
    case 'options':
      return parsed.options;
    case 'error':
      throw new StartError(parsed.message);
    case 'parse-error':
      throw new StartError(`${parsed.argument}: ${parsed.why}`);
    default:
      throw new StartError(`--${parsed.kind} is for the command`);
  }
}
