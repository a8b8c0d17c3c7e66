import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves with the work, or after so long without it; rejects if the work does before. */
export async function atMost(limitMs: number, work: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  const late = sleep(limitMs, undefined, { signal: patience.signal }).catch(() => undefined);
  try {
    await Promise.race([work, late]);
  } finally {
    patience.abort();
  }
}
