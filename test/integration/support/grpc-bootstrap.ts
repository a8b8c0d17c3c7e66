// A listener and a host that speak HTTP/2 alone, as gRPC does.
import { HTTP2, cluster, toCluster, webBootstrap } from './bootstraps.js';

const TLS_CONTEXT =
  'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';

/** Of a listener that has TLS. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

interface Web {
  readonly static_resources: {
    readonly listeners: readonly {
      readonly filter_chains: readonly {
        transport_socket?: object;
        readonly filters: readonly { readonly typed_config: object }[];
      }[];
    }[];
    clusters: object[];
  };
}

/** A listener "web" for gRPC, to a server on that port. */
export function grpcBootstrap(server: number, tls?: Certificate): object {
  const web = structuredClone(webBootstrap([toCluster('/', 'server')])) as unknown as Web;
  const chain = web.static_resources.listeners[0]?.filter_chains[0];
  Object.assign(chain?.filters[0]?.typed_config ?? {}, { codec_type: 'HTTP2' });
  if (chain && tls) chain.transport_socket = tlsSocket(tls);
  web.static_resources.clusters = [{ ...cluster('server', server), ...HTTP2 }];
  return web;
}

function tlsSocket({ certificate, key }: Certificate): object {
  const tls_certificates = [
    { certificate_chain: { inline_string: certificate }, private_key: { inline_string: key } },
  ];
  const typed_config = {
    '@type': TLS_CONTEXT,
    common_tls_context: { alpn_protocols: ['h2'], tls_certificates },
  };
  return { name: 'envoy.transport_sockets.tls', typed_config };
}
