// How long the first answer of a control plane is waited for.
import { startTimeout } from '../base/timers.js';

export class FirstFetch {
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | undefined;
  #onFirst: (() => void) | undefined;

  /** 0: for ever. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** `onFirst` is called once, after `onTimeout` where nothing has come. */
  start(onFirst: () => void, onTimeout: () => void): void {
    this.#onFirst = onFirst;
    if (this.#timeoutMs === 0) return;
    this.#timer = startTimeout(() => {
      onTimeout();
      this.end();
    }, this.#timeoutMs).unref();
  }

  end(): void {
    this.#forgetTimer();
    const tell = this.#onFirst;
    this.#onFirst = undefined;
    tell?.();
  }

  stop(): void {
    this.#forgetTimer();
    this.#onFirst = undefined;
  }

  /** Whoever waits does so once: what the timer holds is not kept for as long as there is a cluster. */
  #forgetTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
