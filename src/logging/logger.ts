// The process's log: one logger per component, one sink. Lines go to stderr or to a file.
import { closeSync, openSync, writeSync } from 'node:fs';
import { isAtLeast, type Level } from './levels.js';
import { DEFAULT_PATTERN, compilePattern, type LogRecord } from './pattern.js';

/** Components that log. */
export const COMPONENTS = ['admin', 'config', 'connection', 'dns', 'file', 'filter', 'http', 'init', 'main', 'misc', 'router', 'runtime', 'stats', 'upstream'] as const;
export type Component = (typeof COMPONENTS)[number];

export interface LogOptions {
  readonly level: Level;
  readonly pattern: string;
  /** Absent: stderr. */
  readonly path?: string;
  readonly componentLevels: ReadonlyMap<Component, Level>;
}

export class Log {
  readonly #levels = new Map<Component, Level>();
  readonly #format: (record: LogRecord) => string;
  readonly #path: string | undefined;
  #fd: number;

  /** Throws when the file cannot be opened; the error names it. */
  constructor(options: LogOptions) {
    for (const component of COMPONENTS) {
      this.#levels.set(component, options.componentLevels.get(component) ?? options.level);
    }
    this.#format = compilePattern(options.pattern);
    this.#path = options.path;
    this.#fd = options.path === undefined ? 2 : openSync(options.path, 'a', 0o644);
  }

  /** A log that goes to stderr, for what happens before options are known. */
  static early(): Log {
    return new Log({ level: 'info', pattern: DEFAULT_PATTERN, componentLevels: new Map() });
  }

  levels(): ReadonlyMap<Component, Level> {
    return this.#levels;
  }

  setLevel(component: Component, level: Level): void {
    this.#levels.set(component, level);
  }

  write(level: Level, component: Component, message: string): void {
    if (!isAtLeast(level, this.#levels.get(component) ?? 'info')) return;
    const record = { time: new Date(), level, logger: component, message, ...callSite() };
    try {
      writeSync(this.#fd, `${this.#format(record)}\n`);
    } catch {
      // A log that cannot be written must not end the proxy.
    }
  }

  debug(component: Component, message: string): void {
    this.write('debug', component, message);
  }
  info(component: Component, message: string): void {
    this.write('info', component, message);
  }
  warn(component: Component, message: string): void {
    this.write('warning', component, message);
  }
  error(component: Component, message: string): void {
    this.write('error', component, message);
  }
  critical(component: Component, message: string): void {
    this.write('critical', component, message);
  }

  /** Opens the file anew, as after a rotation. */
  reopen(): void {
    if (this.#path === undefined) return;
    const before = this.#fd;
    this.#fd = openSync(this.#path, 'a', 0o644);
    closeSync(before);
  }
}

/** Who called the log: the first frame outside this file. */
function callSite(): { file: string; line: number } {
  const frames = (new Error().stack ?? '').split('\n').slice(1);
  const frame = frames.find((text) => !/\bLog\.|callSite|logger\.[jt]s/.test(text)) ?? '';
  const match = /((?:src|dist)\/[^:)]+):(\d+)/.exec(frame);
  return { file: match?.[1] ?? 'src/main.ts', line: Number(match?.[2] ?? 0) };
}
