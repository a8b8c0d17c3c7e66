import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

const TASKS = '/proc/self/task';
const CHECK_MS = 10;
/** Of waiting in one millisecond, by all workers: less is what any wake-up costs. */
const FEW_NS = 10_000;
/** To find out again costs requests some milliseconds, which is to happen to few of them. */
const HOLD_MS = 2000;

/** Whether workers wait for a processor: then the control thread may be what they wait for. */
export class WorkerWaits {
  readonly #tasks: string;
  readonly #buffer = Buffer.alloc(128);
  #files: readonly number[] = [];
  #checkedMs = -Infinity;
  #waitedNs = 0;
  #heldUntilMs = -Infinity;

  /** `tasks`: the folder of this process's threads. */
  constructor(tasks = TASKS) {
    this.#tasks = tasks;
  }

  /** Now, or a short time ago. */
  areWaiting(nowMs = performance.now()): boolean {
    const passedMs = nowMs - this.#checkedMs;
    if (passedMs >= CHECK_MS) {
      const waitedNs = this.#read();
      if (waitedNs - this.#waitedNs > FEW_NS * passedMs) this.#heldUntilMs = nowMs + HOLD_MS;
      this.#checkedMs = nowMs;
      this.#waitedNs = waitedNs;
    }
    return nowMs < this.#heldUntilMs;
  }

  /** Nanoseconds of all workers since they began. */
  #read(): number {
    try {
      if (this.#files.length === 0) this.#files = openWorkers(this.#tasks);
      return this.#files.reduce((sum, file) => sum + this.#waitOf(file), 0);
    } catch {
      // They have ended, or this kernel does not count.
      for (const file of this.#files) closeSync(file);
      this.#files = [];
      return 0;
    }
  }

  /** Of "nanoseconds that it ran, that it waited, how often". */
  #waitOf(file: number): number {
    const length = readSync(file, this.#buffer, 0, this.#buffer.length, 0);
    return Number(this.#buffer.toString('latin1', 0, length).split(' ')[1]);
  }
}

/** Their statistics of the scheduler. */
function openWorkers(tasks: string): readonly number[] {
  return readdirSync(tasks)
    .filter((id) => readFileSync(`${tasks}/${id}/comm`, 'latin1').startsWith('wrk:'))
    .map((id) => openSync(`${tasks}/${id}/schedstat`, 'r'));
}
