// Draining: clients are asked to leave, and then the listeners close. One for the whole server, whoever
// asks for it: POST /drain_listeners, or the next epoch of a hot restart.
import { guarded } from '../base/bugs.js';
import type { DrainScope, DrainStrategy, NativeProxy } from '../native.js';
import { startTimeout } from '../base/timers.js';

export interface DrainOptions {
  /** --drain-time-s */
  readonly seconds: number;
  /** --drain-strategy */
  readonly strategy: DrainStrategy;
}

type Native = Pick<NativeProxy, 'startDrain' | 'cancelDrain' | 'stopListening'>;

export class Drain {
  readonly #native: Native;
  /** Of listeners that go, too. */
  readonly options: DrainOptions;
  #scope: DrainScope | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** What is to be done when the drain time is over. */
  #whenOver: (() => void)[] = [];
  readonly #stopped = new Set<DrainScope>();

  constructor(native: Native, options: DrainOptions) {
    this.#native = native;
    this.options = options;
  }

  /**
   * Answers of these listeners ask their clients to close, as the strategy says; `whenOver` is called
   * when the drain time is over. Nothing happens where a drain covers the scope already (false); one
   * that widens the scope while another is under way, at whose end something is done, ends with it.
   */
  start(scope: DrainScope, whenOver?: () => void): boolean {
    if (this.#scope === 'all' || this.#scope === scope) return false;
    this.#scope = scope;
    const { seconds, strategy } = this.options;
    this.#native.startDrain(scope, seconds, strategy);
    if (whenOver) {
      this.#whenOver.push(whenOver);
      this.#timer ??= startTimeout(() => this.#over(), seconds * 1000).unref();
    }
    return true;
  }

  /** No new connections, and no new listeners in that direction; open connections go on. */
  stopListening(scope: DrainScope): void {
    this.#stopped.add(scope);
    this.#native.stopListening(scope);
  }

  /** Whether a listener of that scope, and no narrower one, may not be added any more. */
  isStopped(scope: DrainScope): boolean {
    return this.#stopped.has('all') || this.#stopped.has(scope);
  }

  /** Takes a drain back: nobody is asked to leave any more, and nothing happens at its end. */
  cancel(): void {
    this.dispose();
    this.#timer = undefined;
    this.#scope = undefined;
    this.#native.cancelDrain();
  }

  /** What waits for the end of the drain time is forgotten. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#whenOver = [];
  }

  #over(): void {
    this.#timer = undefined;
    const calls = this.#whenOver;
    this.#whenOver = [];
    for (const call of calls) guarded('the end of a drain', call)();
  }
}
