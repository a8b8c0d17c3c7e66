// Listeners as LDS has them in files.
import { address, says, webRoutes } from './bootstraps.js';
import { fileSource } from './resources.js';

type Message = Readonly<Record<string, unknown>>;

const FILTERS = 'type.googleapis.com/envoy.extensions.filters';

/** An HTTP connection manager; `routes`: route_config or rds. */
export function managerFilter(name: string, routes: Message): Message {
  const router = { '@type': `${FILTERS}.http.router.v3.Router` };
  const typed_config = {
    '@type': `${FILTERS}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: name,
    ...routes,
    http_filters: [{ name: 'envoy.filters.http.router', typed_config: router }],
  };
  return { name: 'envoy.filters.network.http_connection_manager', typed_config };
}

/** A filter chain that answers with this text. */
export const sayingChain = (name: string, text: string, more: Message = {}): Message => ({
  filters: [managerFilter(name, { route_config: webRoutes([says('/', text)], `${name}-${text}`) })],
  ...more,
});

/** A filter chain with the routes of that name from a file. */
export const rdsChain = (name: string, file: string): Message => ({
  filters: [
    managerFilter(name, { rds: { route_config_name: name, config_source: fileSource(file) } }),
  ],
});

export const listenerResource = (
  name: string,
  port: number,
  chains: readonly Message[],
  more: Message = {},
): Message => ({
  '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
  name,
  address: address(port),
  filter_chains: chains,
  ...more,
});

export const saying = (name: string, port: number, text: string, more: Message = {}): Message =>
  listenerResource(name, port, [sayingChain(name, text)], more);
