// GET /hystrix_event_stream: at each flush every listener gets two events for each cluster, which the
// data plane writes, and a line that keeps the connection alive.
import type { NativeProxy } from '../native.js';
import { startImmediate } from '../base/timers.js';

type Listener = (piece: Buffer) => void;

const KEEP_ALIVE = Buffer.from(':\n\n');

export class HystrixStream {
  readonly #native: NativeProxy;
  readonly #listeners = new Set<Listener>();
  #isSending = false;

  constructor(native: NativeProxy) {
    this.#native = native;
  }

  /** From the next flush on; the function that comes back ends it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      // Windows begin anew with the next listener.
      if (this.#listeners.size === 0) this.#native.resetHystrix();
    };
  }

  flush(): void {
    if (this.#listeners.size === 0 || this.#isSending) return;
    this.#isSending = true;
    const page = this.#native.openHystrix(Math.floor(Date.now() / 1000));
    const step = (): void => {
      const piece = page.next();
      this.#write(piece ?? KEEP_ALIVE);
      this.#isSending = piece !== null;
      if (this.#isSending) startImmediate(step, () => (this.#isSending = false));
    };
    step();
  }

  #write(piece: Buffer): void {
    if (piece.length === 0) return;
    for (const listener of this.#listeners) listener(piece);
  }
}
