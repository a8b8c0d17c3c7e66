// Long work in small steps, many at a time: however many pages are written at once, the control
// thread comes back to its other work after a millisecond or two. While workers wait for a processor
// each job has one step of a turn, and then this thread rests: the kernel takes no processor from a
// thread that runs before its tick, so that a request waits for as long as a turn. (A lower priority
// does less for requests, and leaves this thread itself waiting longer.)
import { reportBug } from '../../base/bugs.js';
import { WorkerWaits } from './worker-waits.js';
import { startImmediate, startTimeout } from '../../base/timers.js';

/** How long steps may run before the loop turns. One alone takes a tenth of that. */
const TURN_MS = 1;
/** So long that a request waits for one step at most, not for two. */
const REST_MS = 2;
/** Jobs that take turns. Those beyond wait, and hold nothing but what they were asked. */
const MAX_AT_WORK = 32;

/** Does a little of a job. False: the job is over, or rests until it is given to `work` again. */
export type Step = () => boolean;

export class Turns {
  readonly #workers: Pick<WorkerWaits, 'areWaiting'>;
  readonly #atWork: Step[] = [];
  readonly #waiting: Step[] = [];
  #isScheduled = false;
  #isResting = false;

  constructor(workers: Pick<WorkerWaits, 'areWaiting'>) {
    this.#workers = workers;
  }

  /** Nobody waits, and nothing is under way. */
  get isIdle(): boolean {
    return !this.#isResting && this.#atWork.length === 0 && this.#waiting.length === 0;
  }

  /** Runs the step in each of the next turns in which it has its share, until it returns false. */
  work(step: Step): void {
    this.#waiting.push(step);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const turn = (): void => this.#turn();
    if (this.#isResting) startTimeout(turn, REST_MS);
    else startImmediate(turn);
  }

  #turn(): void {
    const endMs = performance.now() + TURN_MS;
    this.#admit();
    // One step each, then again: nobody waits for a job that goes on.
    const steps = this.#isResting ? this.#atWork.length : Infinity;
    for (let done = 0; done < steps && performance.now() < endMs; done += 1) {
      const step = this.#atWork.shift();
      if (!step) break;
      if (isGoingOn(step)) this.#atWork.push(step);
    }
    this.#isScheduled = false;
    // Also where none goes on: those that wait for their readers come back soon.
    this.#isResting = isGoingOn(() => this.#workers.areWaiting());
    if (this.#atWork.length > 0 || this.#waiting.length > 0) this.#schedule();
  }

  #admit(): void {
    while (this.#atWork.length < MAX_AT_WORK) {
      const step = this.#waiting.shift();
      if (!step) return;
      this.#atWork.push(step);
    }
  }
}

/** What throws is over. */
function isGoingOn(step: Step): boolean {
  try {
    return step();
  } catch (thrown) {
    reportBug('a page of the admin server', thrown);
    return false;
  }
}

const turns = new Turns(new WorkerWaits());

/** In the turns that all pages share. */
export const work = (step: Step): void => turns.work(step);

/** Of them. */
export const isIdle = (): boolean => turns.isIdle;
