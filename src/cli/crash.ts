// A bug that nobody caught: its stack goes to the log, as one entry or one for each frame
// (--log-stacktrace-single-entry), and the process ends.
import type { Log } from '../logging/logger.js';

export function logCrash(log: Log, error: unknown, isSingleEntry: boolean): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const entries = isSingleEntry ? [text] : text.split('\n').map((line) => line.trim());
  for (const entry of entries) log.critical('main', entry);
}
