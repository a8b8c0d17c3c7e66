// Long work in small steps, many at a time: however many pages are written at once, the control
// thread comes back to its other work after each few milliseconds.

/** How long steps may run before the loop turns. */
const TURN_MS = 8;

const waiting: (() => void)[] = [];
let isScheduled = false;

/** Runs the step in one of the next turns, after those that wait already. */
export function nextTurn(step: () => void): void {
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
  // Steps that are added meanwhile wait for the next turn, so that each has its share.
  for (let left = waiting.length; left > 0; --left) {
    waiting.shift()?.();
    if (performance.now() >= endMs) break;
  }
  isScheduled = false;
  if (waiting.length > 0) schedule();
}
