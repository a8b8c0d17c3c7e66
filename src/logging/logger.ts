// The process's log: a level for each component or source file, one pattern, one file. Lines of the
// control plane go where those of the data plane go, to a native thread that forms and writes them
// (native/log): nothing here waits for a disk. Where a line comes from is written into each call by the
// build (scripts/log-places.mjs).
import { loadAddon, type NativeLog } from '../native.js';
import { COMPONENTS, type Component } from './components.js';
import { LEVELS, isAtLeast, type Level } from './levels.js';
import { DEFAULT_PATTERN, FINE_GRAIN_PATTERN } from './pattern.js';

export interface LogOptions {
  /** Of all components that `componentLevels` does not name. */
  readonly level: Level;
  readonly componentLevels?: ReadonlyMap<Component, Level>;
  readonly pattern: string;
  /** Lines are written with C's escapes. */
  readonly isEscaped?: boolean;
  /** Each source file has a level, not each component. */
  readonly isFineGrain?: boolean;
}

/** Where a line comes from. */
interface Place {
  /** Relative to the package. */
  readonly file: string;
  readonly line: number;
  readonly functionName: string;
}

const NO_PLACE: Place = { file: '', line: 0, functionName: '' };

export class Log {
  readonly isFineGrain: boolean;
  readonly #native: NativeLog;
  readonly #levels = new Map<Component, Level>();
  readonly #isEscaped: boolean;
  #isStderr = true;
  /** Of the next line. */
  #place = NO_PLACE;

  constructor(options: LogOptions, native = loadAddon().log) {
    this.#native = native;
    this.#isEscaped = options.isEscaped ?? false;
    this.isFineGrain = options.isFineGrain ?? false;
    for (const name of COMPONENTS) {
      this.setLevel(options.componentLevels?.get(name) ?? options.level, name);
    }
    if (this.isFineGrain) native.setFileLevel(LEVELS.indexOf(options.level));
    const isPlain = this.isFineGrain && options.pattern === DEFAULT_PATTERN;
    this.setPattern(isPlain ? FINE_GRAIN_PATTERN : options.pattern);
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
    const { file, line, functionName } = this.#place;
    this.#place = NO_PLACE;
    // A file's level is the native side's to know.
    if (!this.isFineGrain && !this.isOn(level, component)) return;
    this.#native.write(
      COMPONENTS.indexOf(component),
      LEVELS.indexOf(level),
      file,
      line,
      functionName,
      message,
    );
  }

  /** Says where the next line comes from. */
  at(file: string, line: number, functionName = ''): this {
    this.#place = { file, line, functionName };
    return this;
  }

  isOn(level: Level, component: Component): boolean {
    return isAtLeast(level, this.level(component));
  }

  level(component: Component): Level {
    return this.#levels.get(component) ?? 'info';
  }

  /** Of one component, or of all and of every file. */
  setLevel(level: Level, component?: Component): void {
    for (const name of component === undefined ? COMPONENTS : [component]) {
      this.#levels.set(name, level);
      if (!this.isFineGrain) {
        this.#native.setLevel(COMPONENTS.indexOf(name), LEVELS.indexOf(level));
      }
    }
    if (this.isFineGrain && component === undefined) {
      this.#native.setFileLevel(LEVELS.indexOf(level));
    }
  }

  /** Of the source files that a glob, or a component's name, selects; all others get their level back. */
  setFileLevels(rules: readonly (readonly [glob: string, level: Level])[]): void {
    this.#native.setFileRules(rules.map(([glob, level]) => [glob, LEVELS.indexOf(level)]));
  }

  /** The source files that have been reached, with their levels. */
  fileLevels(): readonly (readonly [path: string, level: Level])[] {
    return this.#native.fileLevels().map(([path, level]) => [path, LEVELS[level] ?? 'off']);
  }

  setPattern(pattern: string): void {
    this.#native.setPattern(pattern, this.#isEscaped);
  }

  /** Lines go there from now on. What is wrong with the path, or undefined. */
  openFile(path: string): string | undefined {
    const problem = this.#native.openFile(path);
    if (problem !== '') return problem;
    this.#isStderr = path === '';
    return undefined;
  }

  /** Whether a line of this level reaches the terminal. */
  isSeenOnStderr(level: Level, component: Component): boolean {
    return this.#isStderr && this.isOn(level, component);
  }

  /** Opens the log's file anew, as after a rotation. */
  reopen(): void {
    this.#native.reopen();
  }

  /** Waits until all lines are written, at most so many milliseconds; whether they are. */
  flush(limitMs = 1000): boolean {
    return this.#native.flush(limitMs);
  }

  /** A fatal signal lets the lines be written first. For processes that are all ours. */
  installCrashHandlers(): void {
    this.#native.installCrashHandlers();
  }
}
