// envoy.transport_sockets.http_11_proxy: connections to hosts go through HTTP/1.1 proxies; another
// transport socket says what is spoken with the host.
import type { envoy_extensions_transport_sockets_http_11_proxy_v3_Http11ProxyUpstreamTransport as ProxyTransport } from '../../../build/messages.gen.js';
import { compileAddress } from '../../plan/address/address.js';
import { compileUpstreamSocket, refusesWithin } from '../../plan/cluster/upstream-socket.js';
import { defineExtension } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { UpstreamSocketPlan } from '../../plan/tls-socket.js';

const TRANSPORT = supportedFields<ProxyTransport>(
  'envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport',
  ['transport_socket', 'default_proxy_address'],
);

/** Undefined after an error. */
export const http11Proxy = defineExtension<ProxyTransport, UpstreamSocketPlan | undefined>({
  name: 'envoy.transport_sockets.http_11_proxy',
  type: TRANSPORT.type,
  compile: (message, place, context) => {
    refuseOtherFields(place, message, TRANSPORT);
    const socketPlace = place.field('transport_socket');
    const inner = compileUpstreamSocket(message.transport_socket, socketPlace, context);
    const problem = 'only what is spoken with the host itself goes through a proxy';
    if (refusesWithin(inner, socketPlace, problem)) return undefined;
    const address =
      message.default_proxy_address &&
      compileAddress(message.default_proxy_address, place.field('default_proxy_address'));
    return inner && { ...inner, http11Proxy: { address } };
  },
});
