// Clusters that speak what the data plane does not speak yet: nothing is forwarded to them.
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';

/** An error where requests would be forwarded to such a cluster. */
export function refuseRequests(name: string, place: Place, context: CompileContext): void {
  const why = context.controlOnlyClusters.get(name);
  if (!why) return;
  place.error(
    `cluster '${name}' speaks ${why.protocol}: to forward requests over it is not supported yet`,
    { expected: 'a cluster that speaks HTTP/1', related: why.place },
  );
}
