// Through which cluster a service is asked that gives credentials of AWS to whoever runs beside it: as in the
// real server one that no configuration has, shown among those that come while the server runs.
import { isIP } from 'node:net';
import type { envoy_config_cluster_v3_Cluster as Cluster } from '../../build/messages.gen.js';

const OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const CONNECT_MS = 5000;

/** Undefined: it is asked by its URL, which names no address, wants TLS, or cannot be read. */
export function metadataCluster(name: string, url: string): Cluster | undefined {
  // It comes from the environment, and what is wrong there is for who asks to find out.
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  // The cluster has no TLS: a token is not to go out in clear.
  if (protocol !== 'http:') return undefined;
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) === 0) return undefined;
  const socket_address = { address, port_value: Number(port || 80) };
  return {
    name,
    type: 'STATIC',
    connect_timeout: CONNECT_MS,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address } } }] }],
    },
    typed_extension_protocol_options: {
      [OPTIONS]: {
        $type: OPTIONS,
        explicit_http_config: { http_protocol_options: { accept_http_10: true } },
      },
    },
  } as Cluster;
}
