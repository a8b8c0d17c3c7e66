// How hosts of a cluster are reached: by its transport socket, or by the first of its
// transport_socket_matches that their metadata has.
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_config_core_v3_Metadata as Metadata,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { wantedOf } from '../host-labels.js';
import type { Place } from '../message/place.js';
import type { Cluster, InternalUpstreamSocket, TransportMatch } from '../plan.gen.js';
import type { InternalUpstreamPlan, TlsSocketPlan, UpstreamSocketPlan } from '../tls-socket.js';
import { metadataSpaces } from './host-needs.js';
import { compileUpstreamSocket } from './upstream-socket.js';

/** How hosts are reached, in a cluster or one of its transport_socket_matches. */
export function reachedBy(
  { tls, proxyProtocol, http11Proxy, internalUpstream: internal }: UpstreamSocketPlan,
  metadata: Metadata | undefined,
): Pick<Cluster, 'tls' | 'proxy_protocol' | 'http11_proxy' | 'internal_upstream'> {
  return {
    ...(tls && { tls: tls.context }),
    ...(proxyProtocol && { proxy_protocol: proxyProtocol }),
    ...(http11Proxy && { http11_proxy: http11Proxy }),
    ...(internal && { internal_upstream: internalUpstream(internal, metadata) }),
  };
}

function internalUpstream(
  { hostNamespaces, clusterNamespaces }: InternalUpstreamPlan,
  metadata: Metadata | undefined,
): InternalUpstreamSocket {
  const spaces = metadataSpaces(clusterNamespaces, metadata);
  return {
    host_namespaces: [...hostNamespaces],
    cluster_metadata: spaces,
    missing: clusterNamespaces.length - spaces.length,
  };
}

export interface SocketMatchPlan {
  readonly plan: TransportMatch;
  readonly reached: UpstreamSocketPlan;
  /** Absent: bytes in the clear. */
  readonly socket?: TlsSocketPlan;
}

/** Hosts are reached by the first whose match their metadata has. */
export function compileSocketMatches(
  message: ClusterMessage,
  place: Place,
  context: CompileContext,
): SocketMatchPlan[] {
  const names = new Set<string>();
  return (message.transport_socket_matches ?? []).flatMap((match, index) => {
    const at = place.field('transport_socket_matches').index(index);
    const { name = '' } = match;
    if (names.has(name) && message.transport_socket_matcher) {
      at.field('name').error(
        `Duplicate transport socket name '${name}' found in transport_socket_matches`,
      );
    }
    names.add(name);
    const socketPlace = at.field('transport_socket');
    if (!match.transport_socket) {
      at.error("Didn't find a registered implementation for '' with type URL: ''", {
        expected: 'transport_socket',
      });
      return [];
    }
    const socket = compileUpstreamSocket(match.transport_socket, socketPlace, context);
    if (!socket) return [];
    const plan = {
      name,
      labels: wantedOf(match.match ?? {}),
      ...reachedBy(socket, message.metadata),
    };
    return { plan, reached: socket, ...(socket.tls && { socket: socket.tls }) };
  });
}

/** Only TLS can agree on a protocol. */
export function demandAlpn(
  message: ClusterMessage,
  socket: UpstreamSocketPlan | undefined,
  matches: readonly SocketMatchPlan[],
  place: Place,
): void {
  const at = place.field('typed_extension_protocol_options');
  const text = `ALPN configured for cluster ${message.name ?? ''} which has a non-ALPN transport socket`;
  if (socket && !socket.tls) at.error(text, { expected: 'a transport_socket that speaks TLS' });
  if (matches.some(({ plan }) => !plan.tls)) {
    at.error(
      `ALPN configured for cluster ${message.name ?? ''} which has a non-ALPN transport socket matcher`,
      { expected: 'transport_socket_matches that speak TLS' },
    );
  }
}
