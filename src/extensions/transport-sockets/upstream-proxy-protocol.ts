// envoy.transport_sockets.upstream_proxy_protocol: connections to hosts begin by saying whom they are
// for; another transport socket says what follows.
import type { envoy_extensions_transport_sockets_proxy_protocol_v3_ProxyProtocolUpstreamTransport as UpstreamTransport } from '../../../build/messages.gen.js';
import { compileUpstreamSocket, refusesWithin } from '../../plan/cluster/upstream-socket.js';
import { defineExtension } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { compileProxyProtocol } from '../../plan/proxy-protocol.js';
import type { UpstreamSocketPlan } from '../../plan/tls-socket.js';

// Connections are shared by nobody whose values differ: tlv_as_pool_key or not.
const TRANSPORT = supportedFields<UpstreamTransport>(
  'envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport',
  ['config', 'transport_socket', 'allow_unspecified_address', 'tlv_as_pool_key'],
);
/** Undefined after an error. */
export const upstreamProxyProtocol = defineExtension<
  UpstreamTransport,
  UpstreamSocketPlan | undefined
>({
  name: 'envoy.transport_sockets.upstream_proxy_protocol',
  type: TRANSPORT.type,
  compile: (message, place, context) => {
    refuseOtherFields(place, message, TRANSPORT);
    const config = message.config ?? {};
    const at = place.field('config');
    const socketPlace = place.field('transport_socket');
    const inner = compileUpstreamSocket(message.transport_socket, socketPlace, context);
    const what = inner?.internalUpstream
      ? 'what internal listeners are told'
      : inner?.http11Proxy
        ? 'an HTTP/1.1 proxy'
        : 'the PROXY protocol';
    const problem = `${what} within the PROXY protocol is not supported`;
    if (refusesWithin(inner, socketPlace, problem)) return undefined;
    const proxyProtocol = {
      ...compileProxyProtocol(config, at, context),
      allows_unspecified: message.allow_unspecified_address,
    };
    return inner && { ...inner, proxyProtocol };
  },
});
