// A bug that nobody caught while there is nothing to be served: it goes to the log, and the process ends.
import type { Log } from '../logging/logger.js';
import { stackEntries } from '../logging/stack.js';

export function logCrash(log: Log, thrown: unknown, isSingleEntry: boolean): void {
  for (const entry of stackEntries(thrown, isSingleEntry)) log.critical('main', entry);
}
