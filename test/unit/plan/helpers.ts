// A small vocabulary for tests that compile configurations: decoded messages in, plans and issues out.
import { takeSnapshot, valuesOf } from '../../../src/runtime/snapshot.js';
import type {
  Any,
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_cluster_v3_Cluster as Cluster,
  envoy_config_listener_v3_Listener as Listener,
  envoy_config_route_v3_Route as Route,
  envoy_config_route_v3_RouteConfiguration as RouteConfiguration,
} from '../../../build/messages.gen.js';
import { REGISTRY } from '../../../src/extensions/registry.js';
import { compileBootstrap } from '../../../src/plan/compile.js';
import type { CompiledBootstrap } from '../../../src/plan/compiled.js';

const EXTENSIONS = 'envoy.extensions';
export const HCM = `${EXTENSIONS}.filters.network.http_connection_manager.v3.HttpConnectionManager`;
export const TCP_PROXY = `${EXTENSIONS}.filters.network.tcp_proxy.v3.TcpProxy`;
export const ECHO = `${EXTENSIONS}.filters.network.echo.v3.Echo`;
export const FILE_LOG = `${EXTENSIONS}.access_loggers.file.v3.FileAccessLog`;
export const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: { $type: `${EXTENSIONS}.filters.http.router.v3.Router` },
};

export function any(type: string, fields: object = {}): Any {
  return { $type: type, ...fields };
}

export function socketAddress(port: number, address = '127.0.0.1') {
  return { socket_address: { address, port_value: port } };
}

export function compile(bootstrap: Bootstrap): CompiledBootstrap {
  return compileBootstrap(bootstrap, {
    runtime: valuesOf(takeSnapshot({ bootstrap, serviceCluster: 'shop' })),
    serviceCluster: 'shop',
    serviceNode: 'shop-1',
    localAddress: '192.0.2.1',
    extensions: REGISTRY,
  });
}

export function compileStatic(resources: {
  listeners?: readonly Listener[];
  clusters?: readonly Cluster[];
}): CompiledBootstrap {
  return compile({ static_resources: resources });
}

/** A listener on port 10000 whose only filter is this. */
export function listenerOf(filter: Any, fields: Listener = {}): Listener {
  const chain = { filters: [{ name: 'filter', typed_config: filter }] };
  return { name: 'main', address: socketAddress(10_000), filter_chains: [chain], ...fields };
}

export function connectionManager(routes: RouteConfiguration, fields: object = {}): Any {
  return any(HCM, { stat_prefix: 'in', route_config: routes, http_filters: [ROUTER], ...fields });
}

/** The plan of one route of one virtual host, beside a cluster "origin". */
export function compileOneRoute(route: Route, table: RouteConfiguration = {}) {
  const hosts = [{ name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, ...route }] }];
  const compiled = compileStatic({
    clusters: [{ name: 'origin' }],
    listeners: [listenerOf(connectionManager({ name: 'local', virtual_hosts: hosts, ...table }))],
  });
  return {
    issues: issuesOf(compiled),
    route: compiled.update.route_tables?.[0]?.virtual_hosts?.[0]?.routes?.[0],
  };
}

/** "error path: message" of each issue; the path from the last of the route, filter or cluster on. */
export function issuesOf(compiled: CompiledBootstrap): string[] {
  return compiled.issues.map((issue) => {
    const path = issue.path.replace(
      /^.*\.(routes\[\d+\]|typed_config|clusters\[\d+\])(?=\.|$)/,
      '$1',
    );
    const hint = issue.suggestion === undefined ? '' : ` (${issue.suggestion}?)`;
    return `${issue.severity} ${path}: ${issue.message}${hint}`;
  });
}
