// Where the router stands in a chain: at its end, and nothing else does.
import type { Place } from '../../plan/message/place.js';

/** False: it may not stand there. `named`: "NAME of type TYPE". */
export function checkTerminal(
  isTerminal: boolean,
  isLast: boolean,
  named: string,
  chain: string,
  place: Place,
): boolean {
  if (isTerminal === isLast) return true;
  if (isTerminal) {
    place.error(
      `Error: terminal filter named ${named} must be the last filter in a ${chain} filter chain.`,
    );
  } else {
    place.error(
      `Error: non-terminal filter named ${named} is the last filter in a ${chain} filter chain.`,
      { expected: 'envoy.filters.http.router after it' },
    );
  }
  return false;
}
