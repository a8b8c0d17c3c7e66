// The plan that a bootstrap compiles to, until the workers have it.
import type { Update } from '../plan/plan.gen.js';

/** Lets go of the plan as soon as it is taken: for 10,000 clusters it is 40 MB of the heap. */
export class FirstUpdate {
  /** Undefined: there is none, or it follows the runtime alone. */
  readonly connectionLimit: number | undefined;
  #update: Update | undefined;

  constructor(update: Update) {
    this.connectionLimit = update.connection_limit?.value;
    this.#update = update;
  }

  /** Once. */
  take(): Update {
    const update = this.#update;
    if (!update) throw new Error('the first update has been taken');
    this.#update = undefined;
    return update;
  }
}
