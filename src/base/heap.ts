// What a start leaves on the JavaScript heap.
import { runInNewContext } from 'node:vm';
import { v8 } from './late-modules.js';

/** Below it, what could be given back is less than the code that would do so. */
const WORTH_IT_BYTES = 64 << 20;

/**
 * Gives back what is not used any more of a large heap: what 10,000 clusters were compiled from is 70 MB, and V8
 * does not look again for as long as nothing new is made. Holds the thread up for some 10 ms then; nothing for a
 * small one. For a process of one's own: whoever embeds the proxy has the heap to themselves.
 */
export function giveBackHeap(): void {
  if (process.memoryUsage().heapTotal < WORTH_IT_BYTES) return;
  const { setFlagsFromString } = v8();
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect !== 'function') return;
  collect();
  // What the first found free is unmapped by the second.
  collect();
}
