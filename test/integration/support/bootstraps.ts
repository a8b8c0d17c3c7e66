// Small bootstraps on ports that the kernel chooses.
type Message = Readonly<Record<string, unknown>>;

const EXTENSIONS = 'type.googleapis.com/envoy.extensions.filters';

export function address(port: number): Message {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}

/** An admin server and nothing else. */
export const ADMIN_ONLY = { admin: { address: address(0) } };

/** A listener "web" with these routes, and a cluster for each of these origins. */
export function webBootstrap(
  routes: readonly Message[],
  origins: Readonly<Record<string, number>> = {},
  port = 0,
): Message {
  return {
    ...ADMIN_ONLY,
    static_resources: {
      listeners: [webListener({ route_config: webRoutes(routes) }, port)],
      clusters: Object.entries(origins).map(([name, origin]) => cluster(name, origin)),
    },
  };
}

/** The same, with routes of that name from a file, and these clusters. */
export function rdsBootstrap(
  name: string,
  source: Message,
  clusters: readonly Message[] = [],
): Message {
  const rds = { route_config_name: name, config_source: source };
  return {
    ...ADMIN_ONLY,
    node: { id: 'test', cluster: 'test' },
    static_resources: { listeners: [webListener({ rds }, 0)], clusters },
  };
}

/** Routes for all hosts. */
export function webRoutes(routes: readonly Message[], name = 'web'): Message {
  return { name, virtual_hosts: [{ name: 'all', domains: ['*'], routes }] };
}

/** `routes`: what its connection manager says, routes among it. */
export function webListener(routes: Message, port: number): Message {
  const typed_config = {
    '@type': `${EXTENSIONS}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'web',
    ...routes,
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${EXTENSIONS}.http.router.v3.Router` },
      },
    ],
  };
  const filter = { name: 'envoy.filters.network.http_connection_manager', typed_config };
  return { name: 'web', address: address(port), filter_chains: [{ filters: [filter] }] };
}

export function cluster(name: string, port: number): Message {
  const endpoints = [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }];
  return { name, type: 'STATIC', load_assignment: { cluster_name: name, endpoints } };
}

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** Of a cluster whose hosts speak HTTP/2 alone. */
export const HTTP2: Message = {
  typed_extension_protocol_options: {
    [HTTP_OPTIONS]: {
      '@type': `type.googleapis.com/${HTTP_OPTIONS}`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

/** The cluster "plane", whose host is a control plane. */
export function planeCluster(port: number): Message {
  return { ...cluster('plane', port), ...HTTP2 };
}

/** A route to a cluster, without a time limit. */
export function toCluster(prefix: string, cluster: string): Message {
  return { match: { prefix }, route: { cluster, timeout: '0s' } };
}

/** A route that answers by itself. */
export function says(prefix: string, text: string): Message {
  return { match: { prefix }, direct_response: { status: 200, body: { inline_string: text } } };
}
