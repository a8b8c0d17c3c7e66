// Long work of the control thread, a slice at a time: what else it has to do comes in between.
import { startImmediate } from '../base/timers.js';

/** Of all such work together, between two looks at what else there is. */
const TURN_MS = 10;
/** However many share a turn: so each gets on. */
const LEAST_MS = 2;

/** When the turn began in which work goes on; undefined: none has yet. */
let turnBeganMs: number | undefined;

function beginTurn(nowMs: number): void {
  if (turnBeganMs !== undefined) return;
  turnBeganMs = nowMs;
  // The next turn: whatever pauses in this one goes on behind this.
  startImmediate(() => (turnBeganMs = undefined));
}

export class Slices {
  #beganMs = performance.now();

  constructor() {
    beginTurn(this.#beganMs);
  }

  /** Undefined: there is time left. Otherwise the work goes on when it resolves. */
  pause(): Promise<void> | undefined {
    const nowMs = performance.now();
    if (nowMs - this.#beganMs < LEAST_MS) return undefined;
    if (nowMs - (turnBeganMs ?? this.#beganMs) < TURN_MS) return undefined;
    return new Promise<void>((resolve) =>
      startImmediate(() => {
        this.#beganMs = performance.now();
        beginTurn(this.#beganMs);
        resolve();
      }),
    );
  }
}
