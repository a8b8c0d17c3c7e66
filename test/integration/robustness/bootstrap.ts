// Bootstraps for the stories of this folder: one listener on a port that the kernel chooses, an admin
// server likewise, and one cluster called origin.

import { ADMIN_ONLY, address } from '../support/bootstraps.js';

type Message = Readonly<Record<string, unknown>>;

export interface HttpSetting {
  /** Ports on 127.0.0.1. */
  readonly origins: readonly number[];
  readonly manager?: Message;
  readonly cluster?: Message;
  readonly listener?: Message;
  readonly route?: Message;
}

export interface TcpSetting {
  readonly origins: readonly number[];
  readonly tcpProxy?: Message;
  readonly cluster?: Message;
  readonly listener?: Message;
}

const EXTENSIONS = 'type.googleapis.com/envoy.extensions.filters';

export function httpBootstrap(setting: HttpSetting): Message {
  const { origins, manager = {}, cluster = {}, listener = {}, route = {} } = setting;
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'origin', ...route } }];
  const typed_config = {
    '@type': `${EXTENSIONS}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'web',
    route_config: { name: 'web', virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${EXTENSIONS}.http.router.v3.Router` },
      },
    ],
    ...manager,
  };
  return bootstrap(
    { name: 'envoy.filters.network.http_connection_manager', typed_config },
    listener,
    originCluster(origins, cluster),
  );
}

export function tcpBootstrap(setting: TcpSetting): Message {
  const { origins, tcpProxy = {}, cluster = {}, listener = {} } = setting;
  const typed_config = {
    '@type': `${EXTENSIONS}.network.tcp_proxy.v3.TcpProxy`,
    stat_prefix: 'relay',
    cluster: 'origin',
    ...tcpProxy,
  };
  return bootstrap(
    { name: 'envoy.filters.network.tcp_proxy', typed_config },
    listener,
    originCluster(origins, cluster),
  );
}

function bootstrap(filter: Message, listener: Message, cluster: Message): Message {
  const main = {
    name: 'main',
    address: address(0),
    filter_chains: [{ filters: [filter] }],
    ...listener,
  };
  return { ...ADMIN_ONLY, static_resources: { listeners: [main], clusters: [cluster] } };
}

function originCluster(ports: readonly number[], more: Message): Message {
  const lb_endpoints = ports.map((port) => ({ endpoint: { address: address(port) } }));
  return {
    name: 'origin',
    type: 'STATIC',
    connect_timeout: '1s',
    load_assignment: { cluster_name: 'origin', endpoints: [{ lb_endpoints }] },
    ...more,
  };
}
