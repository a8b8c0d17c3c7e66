// Clusters that speak what the data plane does not speak yet: nothing is forwarded to them.
import type { CompileContext, ControlOnly } from '../extension.js';
import type { Place } from '../message/place.js';

const spoken = ({ protocol }: ControlOnly): string =>
  protocol === 'TLS' ? 'TLS (envoy.transport_sockets.tls)' : protocol;

/** An error where requests would be forwarded to such a cluster. */
export function refuseRequests(name: string, place: Place, context: CompileContext): void {
  const why = context.controlOnlyClusters.get(name);
  if (!why) return;
  place.error(
    `cluster '${name}' speaks ${spoken(why)}: to forward requests over it is not supported yet`,
    {
      expected:
        why.protocol === 'TLS'
          ? 'a cluster without a transport_socket'
          : 'a cluster that speaks HTTP/1',
      related: why.place,
    },
  );
}

/** An error where bytes would be forwarded to a cluster that encrypts them. */
export function refuseBytes(name: string, place: Place, context: CompileContext): void {
  const why = context.controlOnlyClusters.get(name);
  if (why?.protocol !== 'TLS') return;
  place.error(
    `cluster '${name}' speaks ${spoken(why)}: to forward connections over it is not supported yet`,
    {
      expected: 'a cluster without a transport_socket',
      related: why.place,
    },
  );
}
