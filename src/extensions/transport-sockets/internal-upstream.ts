// envoy.transport_sockets.internal_upstream: internal listeners are told metadata of the host and the
// cluster that a connection is of; another transport socket says what is spoken.
import type {
  envoy_extensions_transport_sockets_internal_upstream_v3_InternalUpstreamTransport as InternalTransport,
  envoy_extensions_transport_sockets_internal_upstream_v3_InternalUpstreamTransport_MetadataValueSource as Source,
} from '../../../build/messages.gen.js';
import { compileUpstreamSocket, refusesWithin } from '../../plan/cluster/upstream-socket.js';
import { defineExtension } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { UpstreamSocketPlan } from '../../plan/tls-socket.js';

const TRANSPORT = supportedFields<InternalTransport>(
  'envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport',
  ['passthrough_metadata', 'transport_socket'],
);

/** Undefined after an error. */
export const internalUpstream = defineExtension<InternalTransport, UpstreamSocketPlan | undefined>({
  name: 'envoy.transport_sockets.internal_upstream',
  type: TRANSPORT.type,
  compile: (message, place, context) => {
    refuseOtherFields(place, message, TRANSPORT);
    const socketPlace = place.field('transport_socket');
    const inner = compileUpstreamSocket(message.transport_socket, socketPlace, context);
    const problem = 'only what is spoken with the host itself goes to an internal listener';
    if (refusesWithin(inner, socketPlace, problem)) return undefined;
    const sources = message.passthrough_metadata ?? [];
    sources.forEach(({ kind = {} }, index) => {
      if (kind.host || kind.cluster) return;
      const at = place.field('passthrough_metadata').index(index).field('kind');
      at.error(`metadata type is not supported: ${kind.request ? 'request' : 'route'}`, {
        expected: 'host or cluster',
      });
    });
    const namesOf = (kind: 'host' | 'cluster'): string[] =>
      sources.flatMap((source: Source) => (source.kind?.[kind] ? [source.name ?? ''] : []));
    return (
      inner && {
        ...inner,
        internalUpstream: {
          hostNamespaces: namesOf('host'),
          clusterNamespaces: namesOf('cluster'),
        },
      }
    );
  },
});
