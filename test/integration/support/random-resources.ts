// Resources of a control plane, good in any way that chance has it. Requests of the stories find the
// listeners "web", "safe" (TLS) and "scoped", whatever else there is.
import { address } from './bootstraps.js';
import { CLIENT_CERTIFICATE, CLIENT_KEY, SERVER_CERTIFICATE, SERVER_KEY } from './certificates.js';
import {
  CLUSTER,
  ENDPOINTS,
  EXTENSION,
  LISTENER,
  ROUTES,
  RUNTIME,
  SCOPE,
  SECRET,
  type Message,
} from './control-plane.js';

export const ANY = 'type.googleapis.com/';
export const HCM =
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
export const FAULT = 'envoy.extensions.filters.http.fault.v3.HTTPFault';
export const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';
const TLS = 'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';

/** What is asked for by name; of all others there is all. */
export const NAMED: ReadonlySet<string> = new Set([ENDPOINTS, ROUTES, EXTENSION, SECRET, RUNTIME]);

/** Whole numbers and choices by chance. */
export class Dice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  isOneIn(many: number): boolean {
    return this.below(many) === 0;
  }

  oneOf<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.below(values.length)] ?? values[0];
  }
}

/** Names by chance: none to three. */
function someNames(dice: Dice): string[] {
  return Array.from({ length: dice.below(4) }, (_, index) => `other-${index}`);
}

export class Resources {
  readonly #source: Message;
  /** Of origins that answer alike. */
  readonly #ports: readonly [number, ...number[]];
  readonly #dice: Dice;

  /** `source`: where what is named in others comes from. */
  constructor(source: Message, ports: readonly [number, ...number[]], dice: Dice) {
    this.#source = source;
    this.#ports = ports;
    this.#dice = dice;
  }

  /** By type, in an order that nothing has to wait in. */
  all(): ReadonlyMap<string, readonly Message[]> {
    const types = [CLUSTER, ENDPOINTS, ROUTES, EXTENSION, SECRET, RUNTIME, SCOPE, LISTENER];
    return new Map(types.map((type) => [type, this.of(type)]));
  }

  of(type: string): readonly Message[] {
    const dice = this.#dice;
    if (type === CLUSTER) {
      return [this.edsCluster('origin'), ...someNames(dice).map((name) => this.cluster(name))];
    }
    if (type === ENDPOINTS) return [this.hosts('origin')];
    if (type === ROUTES) return [this.routes(someNames(dice))];
    if (type === EXTENSION) return [this.filter()];
    if (type === SECRET) return [this.certificate()];
    if (type === RUNTIME) return [this.layer()];
    if (type === SCOPE) {
      const others = someNames(dice).map((name) => this.scope(name));
      return [this.scope('all', { route_configuration_name: 'table' }), ...others];
    }
    const others = someNames(dice).map((name) => this.listener(name));
    return [this.listener('web'), this.listener('safe'), this.listener('scoped'), ...others];
  }

  edsCluster(name: string): Message {
    return {
      ...{ name, connect_timeout: { seconds: 5 }, type: 'EDS' },
      eds_cluster_config: { eds_config: this.#source },
    };
  }

  /** Of no hosts, or of one that nobody asks. */
  cluster(name: string): Message {
    const dice = this.#dice;
    return {
      ...{ name, connect_timeout: { seconds: 1 + dice.below(9) } },
      lb_policy: dice.oneOf(['ROUND_ROBIN', 'LEAST_REQUEST', 'RANDOM', 'RING_HASH', 'MAGLEV']),
      ...(dice.isOneIn(3) && {
        circuit_breakers: { thresholds: [{ max_connections: { value: 1 + dice.below(99) } }] },
      }),
      ...(dice.isOneIn(3) && {
        outlier_detection: { consecutive_5xx: { value: 1 + dice.below(9) } },
      }),
      ...(dice.isOneIn(3) && {
        common_lb_config: { healthy_panic_threshold: { value: dice.below(100) } },
      }),
      ...(dice.isOneIn(2) && {
        load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [this.host()] }] },
      }),
    };
  }

  host(more: Message = {}): Message {
    return { endpoint: { address: address(this.#dice.oneOf(this.#ports)) }, ...more };
  }

  /** One of them at least is well, and in the first priority. */
  hosts(cluster_name: string): Message {
    const dice = this.#dice;
    const weigh = (): Message => ({ load_balancing_weight: { value: 1 + dice.below(100) } });
    const zoneOf = (): Message => ({ region: 'here', zone: `zone-${dice.below(3)}` });
    const well = this.host({ health_status: dice.oneOf(['HEALTHY', 'UNKNOWN']), ...weigh() });
    const localities: Message[] = [
      { locality: zoneOf(), lb_endpoints: [well], ...(dice.isOneIn(2) && weigh()) },
    ];
    const [, second] = this.#ports;
    if (dice.isOneIn(2) && second !== undefined) {
      const status = dice.oneOf(['HEALTHY', 'DEGRADED', 'UNHEALTHY', 'DRAINING', 'TIMEOUT']);
      const other = { endpoint: { address: address(second) }, health_status: status };
      localities.push({
        ...{ locality: zoneOf(), lb_endpoints: [other], ...weigh() },
        priority: dice.below(3),
      });
    }
    return {
      ...{ cluster_name, endpoints: localities },
      ...(dice.isOneIn(3) && {
        policy: { overprovisioning_factor: { value: 100 + dice.below(100) } },
      }),
    };
  }

  routes(names: readonly string[], extra: readonly Message[] = []): Message {
    const action = (): Message =>
      this.#dice.oneOf<Message>([
        { direct_response: { status: 200 + this.#dice.below(100) } },
        { redirect: { host_redirect: 'else.test', path_redirect: '/there' } },
        { route: { cluster: 'origin', prefix_rewrite: '/other', timeout: { seconds: 3 } } },
        { route: { cluster: 'nobody', retry_policy: { retry_on: '5xx' } } },
      ]);
    return {
      name: 'table',
      virtual_hosts: [
        {
          ...{ name: 'all', domains: ['*'] },
          routes: [{ match: { prefix: '/' }, route: { cluster: 'origin' } }],
        },
        ...names.map((name) => ({
          ...{ name, domains: [`${name}.test`] },
          routes: [
            { match: { safe_regex: { regex: `/${name}/[0-9]+` } }, ...action() },
            { match: { prefix: '/' }, ...action() },
          ],
        })),
        ...extra,
      ],
    };
  }

  /** Of no request of the stories. */
  filter(more: Message = {}): Message {
    const http_status = 200 + this.#dice.below(400);
    return {
      name: 'faults',
      typed_config: {
        '@type': ANY + FAULT,
        headers: [{ name: 'x-nobody', present_match: true }],
        abort: { http_status, percentage: { numerator: this.#dice.below(100) } },
        ...more,
      },
    };
  }

  certificate(more: Message = {}): Message {
    const [chain, key] = this.#dice.oneOf([
      [SERVER_CERTIFICATE, SERVER_KEY],
      [CLIENT_CERTIFICATE, CLIENT_KEY],
    ]);
    return {
      name: 'certificate',
      tls_certificate: {
        certificate_chain: { inline_string: chain },
        private_key: { inline_string: key },
        ...more,
      },
    };
  }

  layer(): Message {
    const values = someNames(this.#dice).map((name) => [
      ...[`some.${name}`, { numberValue: this.#dice.below(1000) }],
    ]);
    return { name: 'layer', layer: { fields: Object.fromEntries(values) } };
  }

  scope(name: string, more: Message = {}): Message {
    const own = { name: `${name}-own`, virtual_hosts: [] };
    return {
      ...{ name, key: { fragments: [{ string_key: name }] } },
      ...('route_configuration_name' in more || this.#dice.isOneIn(2)
        ? { route_configuration_name: 'table' }
        : { route_configuration: own }),
      ...more,
    };
  }

  listener(name: string, manager: Message = {}, chain: Message = {}): Message {
    const isOther = name.startsWith('other');
    const isNew = name === 'web' && this.#dice.isOneIn(3);
    return {
      ...{ name, address: address(0) },
      ...(isOther && { traffic_direction: this.#dice.oneOf(['INBOUND', 'OUTBOUND']) }),
      filter_chains: [
        {
          filters: [
            this.manager({
              ...(name === 'scoped' && this.#scoped()),
              // Another filter chain for the same sockets.
              ...(isNew && { server_name: `server-${this.#dice.below(3)}` }),
              ...manager,
            }),
          ],
          ...(name === 'safe' && { transport_socket: this.#secure() }),
          ...chain,
        },
      ],
    };
  }

  manager(more: Message = {}): Message {
    const rds = { route_config_name: 'table', config_source: this.#source };
    return {
      name: 'http',
      typed_config: {
        ...{ '@type': ANY + HCM, stat_prefix: 'web' },
        ...(!('scoped_routes' in more) && { rds }),
        http_filters: [
          {
            name: 'faults',
            config_discovery: { config_source: this.#source, type_urls: [ANY + FAULT] },
          },
          { name: 'router', typed_config: { '@type': ANY + ROUTER } },
        ],
        ...more,
      },
    };
  }

  #scoped(): Message {
    const extractor = { name: 'x-scope', element_separator: ',', index: 0 };
    return {
      stat_prefix: 'scoped',
      scoped_routes: {
        name: 'scopes',
        scope_key_builder: { fragments: [{ header_value_extractor: extractor }] },
        rds_config_source: this.#source,
        scoped_rds: { scoped_rds_config_source: this.#source },
      },
    };
  }

  #secure(): Message {
    return {
      name: 'tls',
      typed_config: {
        '@type': ANY + TLS,
        common_tls_context: {
          tls_certificate_sds_secret_configs: [{ name: 'certificate', sds_config: this.#source }],
        },
      },
    };
  }
}
