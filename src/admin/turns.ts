// Long work in small steps, many at a time: however many pages are written at once, the control
// thread comes back to its other work after a millisecond or two. While workers wait for a processor
// each job has one step of a turn, and then this thread rests: the kernel takes no processor from a
// thread that runs before its tick, so that a request waits for as long as a turn. (A lower priority
// does less for requests, and leaves this thread itself waiting longer.)
import { WorkerWaits } from './worker-waits.js';

/** How long steps may run before the loop turns. One alone takes a tenth of that. */
const TURN_MS = 1;
/** So long that a request waits for one step at most, not for two. */
const REST_MS = 2;
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
  const steps = isResting ? atWork.length : Infinity;
  for (let done = 0; done < steps && performance.now() < endMs; done += 1) {
    const step = atWork.shift();
    if (!step) break;
    if (step()) atWork.push(step);
  }
  isScheduled = false;
  // Also where none goes on: those that wait for their readers come back soon.
  workers ??= new WorkerWaits();
  isResting = workers.areWaiting();
  if (atWork.length > 0 || waiting.length > 0) schedule();
}

function admit(): void {
  while (atWork.length < MAX_AT_WORK) {
    const step = waiting.shift();
    if (!step) return;
    atWork.push(step);
  }
}
