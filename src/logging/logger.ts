// The process's log: a level for each component, one pattern, one sink.
import { packageRoot } from '../package-root.js';
import { COMPONENTS, type Component } from './components.js';
import { escapeLine } from './escape.js';
import { isAtLeast, type Level } from './levels.js';
import { compilePattern, type Pattern } from './pattern.js';
import { LogSink } from './sink.js';

export interface LogOptions {
  /** Of all components that `componentLevels` does not name. */
  readonly level: Level;
  readonly componentLevels?: ReadonlyMap<Component, Level>;
  readonly pattern: string;
  /** Lines are written with C's escapes. */
  readonly isEscaped?: boolean;
  readonly sink?: LogSink;
}

type Write = (component: Component, message: string) => void;

export class Log {
  readonly #levels: Map<Component, Level>;
  #pattern: Pattern;
  readonly #isEscaped: boolean;
  readonly #sink: LogSink;

  constructor(options: LogOptions) {
    this.#levels = new Map(
      COMPONENTS.map((name) => [name, options.componentLevels?.get(name) ?? options.level]),
    );
    this.#pattern = compilePattern(options.pattern);
    this.#isEscaped = options.isEscaped ?? false;
    this.#sink = options.sink ?? new LogSink();
  }

  readonly trace: Write = (component, message) =>
    this.write('trace', component, message, this.trace);
  readonly debug: Write = (component, message) =>
    this.write('debug', component, message, this.debug);
  readonly info: Write = (component, message) => this.write('info', component, message, this.info);
  readonly warn: Write = (component, message) =>
    this.write('warning', component, message, this.warn);
  readonly error: Write = (component, message) =>
    this.write('error', component, message, this.error);
  readonly critical: Write = (component, message) =>
    this.write('critical', component, message, this.critical);

  /** The line names the place that called `caller`: this method, or one that stands for it. */
  write(level: Level, component: Component, message: string, caller: Function = this.write): void {
    if (!this.isOn(level, component)) return;
    const source = this.#pattern.showsSource ? callSite(caller) : { file: '', line: 0 };
    const timeMs = performance.timeOrigin + performance.now();
    const line = this.#pattern.format({ timeMs, level, logger: component, message, ...source });
    this.#sink.write(`${this.#isEscaped ? escapeLine(line) : line}\n`);
  }

  isOn(level: Level, component: Component): boolean {
    return isAtLeast(level, this.level(component));
  }

  level(component: Component): Level {
    return this.#levels.get(component) ?? 'info';
  }

  /** Of one component, or of all. */
  setLevel(level: Level, component?: Component): void {
    for (const name of component === undefined ? COMPONENTS : [component]) {
      this.#levels.set(name, level);
    }
  }

  setPattern(pattern: string): void {
    this.#pattern = compilePattern(pattern);
  }

  /** Whether a line of this level reaches the terminal. */
  isSeenOnStderr(level: Level, component: Component): boolean {
    return this.#sink.isStderr && this.isOn(level, component);
  }

  /** Opens the log's file anew, as after a rotation. */
  reopen(): void {
    const problem = this.#sink.reopen();
    if (problem !== undefined) this.error('main', problem);
  }
}

/** The file and line that called `caller`. */
function callSite(caller: Function): { file: string; line: number } {
  const holder: { stack?: string } = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  Error.captureStackTrace(holder, caller);
  Error.stackTraceLimit = limit;
  const match = /(?:\(|at )(?:async )?(?:file:\/\/)?([^()\s]+):(\d+):\d+\)?$/.exec(
    holder.stack ?? '',
  );
  const path = match?.[1] ?? '';
  const root = `${packageRoot()}/`;
  return {
    file: path.startsWith(root) ? path.slice(root.length) : path,
    line: Number(match?.[2] ?? 0),
  };
}
