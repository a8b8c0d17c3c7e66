// Long work in small steps, many at a time: however many pages are written at once, the control
// thread comes back to its other work after a millisecond or two. While workers wait for a
// processor it rests after each turn: a thread that never sleeps keeps a worker that shares its
// processor from running for whole slices of the scheduler, which are many times as long as a
// request. (A lower priority does less for requests, and leaves this thread itself waiting longer.)
import { WorkerWaits } from './worker-waits.js';

/** How long steps may run before the loop turns. A step itself takes twice this at most. */
const TURN_MS = 1;
const REST_MS = 3;
/** Jobs that take turns. Those beyond wait, and hold nothing but what they were asked. */
const MAX_AT_WORK = 32;

/** Does a little of a job. False: the job is over, or rests until it is given to `work` again. */
export type Step = () => boolean;

const atWork: Step[] = [];
const waiting: Step[] = [];
let isScheduled = false;
let isResting = false;
let workers: WorkerWaits | undefined;

/** Runs the step in each of the next turns in which it has its share, until it returns false. */
export function work(step: Step): void {
  waiting.push(step);
  schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  if (isResting) setTimeout(turn, REST_MS);
  else setImmediate(turn);
}

function turn(): void {
  const endMs = performance.now() + TURN_MS;
  admit();
  // One step each, then again: nobody waits for a job that goes on.
  for (let step = atWork.shift(); step; step = atWork.shift()) {
    if (step()) atWork.push(step);
    if (performance.now() >= endMs) break;
  }
  isScheduled = false;
  if (atWork.length === 0 && waiting.length === 0) return;
  workers ??= new WorkerWaits();
  isResting = workers.areWaiting();
  schedule();
}

function admit(): void {
  while (atWork.length < MAX_AT_WORK) {
    const step = waiting.shift();
    if (!step) return;
    atWork.push(step);
  }
}
