// The process's log: a level for each component, one pattern, one sink. Where a line comes from is
// written into each call by the build (scripts/log-places.mjs).
import { wallClockMs } from '../clock.js';
import { COMPONENTS, type Component } from './components.js';
import { escapeLine } from './escape.js';
import { isAtLeast, type Level } from './levels.js';
import { compilePattern, type LogRecord, type Pattern } from './pattern.js';
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

const NO_PLACE: Pick<LogRecord, 'file' | 'line'> = { file: '', line: 0 };

export class Log {
  readonly #levels: Map<Component, Level>;
  #pattern: Pattern;
  readonly #isEscaped: boolean;
  readonly #sink: LogSink;
  /** Of the next line. */
  #place = NO_PLACE;

  constructor(options: LogOptions) {
    this.#levels = new Map(
      COMPONENTS.map((name) => [name, options.componentLevels?.get(name) ?? options.level]),
    );
    this.#pattern = compilePattern(options.pattern);
    this.#isEscaped = options.isEscaped ?? false;
    this.#sink = options.sink ?? new LogSink();
  }

  trace(component: Component, message: string): void {
    this.write('trace', component, message);
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

  write(level: Level, component: Component, message: string): void {
    const place = this.#place;
    this.#place = NO_PLACE;
    if (!this.isOn(level, component)) return;
    const timeMs = wallClockMs();
    const line = this.#pattern.format({ timeMs, level, logger: component, message, ...place });
    this.#sink.write(`${this.#isEscaped ? escapeLine(line) : line}\n`);
  }

  /** Says where the next line comes from. */
  at(file: string, line: number): this {
    this.#place = { file, line };
    return this;
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
