// Hosts of clusters on their way to the data plane. Those that come in one turn of the loop go together:
// each journey goes on to every worker.
import type { NativeProxy } from '../native.js';
import { encodeUpdate, type Assignment } from '../plan/plan.gen.js';

/** More go in several journeys, so that none of them takes long. */
const AT_ONCE = 100;

interface Waiting {
  readonly assignment: Assignment;
  readonly tell: (wrong: string | undefined) => void;
}

export class AssignmentBatch {
  readonly #native: Pick<NativeProxy, 'apply'>;
  /** By cluster. */
  #waiting = new Map<string, Waiting>();

  constructor(native: Pick<NativeProxy, 'apply'>) {
    this.#native = native;
  }

  /** Resolves when it is in place with what is wrong with it; undefined: nothing. */
  put(assignment: Assignment): Promise<string | undefined> {
    const { cluster_name: cluster = '' } = assignment;
    if (this.#waiting.has(cluster) || this.#waiting.size >= AT_ONCE) this.#apply();
    if (this.#waiting.size === 0) queueMicrotask(() => this.#apply());
    return new Promise((tell) => this.#waiting.set(cluster, { assignment, tell }));
  }

  #apply(): void {
    if (this.#waiting.size === 0) return;
    const some = this.#waiting;
    this.#waiting = new Map();
    const assignments = Array.from(some.values(), ({ assignment }) => assignment);
    const wrong = new Map<string, string[]>();
    for (const { name, message } of this.#native.apply(encodeUpdate({ assignments }))) {
      wrong.set(name, [...(wrong.get(name) ?? []), message]);
    }
    for (const [cluster, { tell }] of some) tell(wrong.get(cluster)?.join('\n'));
  }
}
