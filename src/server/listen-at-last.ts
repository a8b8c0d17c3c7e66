// An address that a process which is just ending may hold a moment longer.
import { monotonicMs } from '../base/clock.js';
import { startTimeout } from '../base/timers.js';

const LOOK_MS = 10;

/** Rejects with what `listen` last rejected with, once `graceMs` are over: at once, if they are 0. */
export async function listenAtLast(listen: () => Promise<void>, graceMs: number): Promise<void> {
  const untilMs = monotonicMs() + graceMs;
  for (;;) {
    try {
      await listen();
      return;
    } catch (error) {
      if (monotonicMs() >= untilMs) throw error;
    }
    await new Promise<void>((resolve) => void startTimeout(resolve, LOOK_MS));
  }
}
