// Where the world calls in, nobody is there to catch what is thrown: timers, events, watchers, messages
// of other processes, threads of the data plane. What is thrown there is a bug of ours, and never worth
// the traffic: it is told to whoever listens, and the process goes on. Nothing outside calls what is not
// `guarded`.
import type { Maybe } from './after.js';

/** Told where it was noticed, and what was thrown. Does not throw. */
type Listener = (where: string, thrown: unknown) => void;

const listeners = new Set<Listener>();

/** Until the function that comes back is called. Bugs are the process's, as its log is. */
export function onBug(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Throws it where nobody listens. */
export function reportBug(where: string, thrown: unknown): void {
  if (listeners.size === 0) throw thrown;
  for (const tell of listeners) tell(where, thrown);
}

/** `act` for somebody outside: what it throws is reported, and then `recover` is called. */
export function guarded<Arguments extends unknown[]>(
  where: string,
  act: (...args: Arguments) => void,
  recover?: () => void,
): (...args: Arguments) => void {
  return (...args) => {
    try {
      act(...args);
    } catch (thrown) {
      reportBug(where, thrown);
      if (recover) guarded(where, recover)();
    }
  };
}

/** For work that nobody waits for, be it done already or not. */
export function unawaited(where: string, work: Maybe<unknown>): void {
  if (work instanceof Promise) work.catch((thrown: unknown) => reportBug(where, thrown));
}
