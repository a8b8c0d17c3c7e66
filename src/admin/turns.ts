// Long work in small steps, many at a time: however many pages are written at once, the control
// thread comes back to its other work after each few milliseconds.

/** How long steps may run before the loop turns. A step itself takes about half of it at most. */
const TURN_MS = 4;
/** Jobs that take turns. Those beyond wait, and hold nothing but what they were asked. */
const MAX_AT_WORK = 32;

/** Does a little of a job. False: the job is over, or rests until it is given to `work` again. */
export type Step = () => boolean;

const atWork: Step[] = [];
const waiting: Step[] = [];
let isScheduled = false;

/** Runs the step in each of the next turns in which it has its share, until it returns false. */
export function work(step: Step): void {
  waiting.push(step);
  schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(turn);
}

function turn(): void {
  const endMs = performance.now() + TURN_MS;
  admit();
  // Each has one step in a turn, so that nobody waits for a job that goes on.
  for (let left = atWork.length; left > 0; --left) {
    const step = atWork.shift();
    if (step?.()) atWork.push(step);
    if (performance.now() >= endMs) break;
  }
  isScheduled = false;
  if (atWork.length > 0 || waiting.length > 0) schedule();
}

function admit(): void {
  while (atWork.length < MAX_AT_WORK) {
    const step = waiting.shift();
    if (!step) return;
    atWork.push(step);
  }
}
