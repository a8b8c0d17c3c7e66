// Resources that are wrong, each with what a refusal of it has to say: a field, mostly.
import { address } from './bootstraps.js';
import { CLIENT_KEY, SERVER_CERTIFICATE } from './certificates.js';
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
import { ANY, FAULT, ROUTER, type Resources } from './random-resources.js';

/** In lower case. */
export type Wrong = readonly [word: string, resources: readonly Message[]];

/** Of any type: what is not of it, under a name that somebody asks for. */
const ofOtherType = (name: string, type = CLUSTER): Wrong => [
  'type url',
  [{ '@type': ANY + type, name }],
];

const WRONGS: Readonly<Record<string, (make: Resources) => readonly Wrong[]>> = {
  [CLUSTER]: wrongClusters,
  [ENDPOINTS]: wrongEndpoints,
  [ROUTES]: wrongRoutes,
  [EXTENSION]: (make) => [
    ['http_status', [make.filter({ abort: { http_status: 99, percentage: { numerator: 1 } } })]],
    ['fixed_delay', [make.filter({ delay: { fixed_delay: { seconds: 0 } } })]],
    ['name', [make.filter({ headers: [{ name: '', present_match: true }] })]],
    ['type url', [{ name: 'faults', typed_config: { '@type': ANY + ROUTER } }]],
    ofOtherType('faults'),
  ],
  [SECRET]: (make) => [
    ['certificate', [make.certificate({ certificate_chain: { inline_string: 'none' } })]],
    ['key', [make.certificate({ private_key: { inline_string: 'none' } })]],
    [
      'key',
      [
        make.certificate({
          certificate_chain: { inline_string: SERVER_CERTIFICATE },
          private_key: { inline_string: CLIENT_KEY },
        }),
      ],
    ],
    ofOtherType('certificate'),
  ],
  [RUNTIME]: () => [
    ['some.key', [{ name: 'layer', layer: { fields: { 'some.key': { nullValue: 0 } } } }]],
    ['invalid', [{ name: 'layer', layer: { fields: { list: { listValue: { values: [] } } } } }]],
    ofOtherType('layer'),
  ],
  [SCOPE]: (make) => [
    ['key', [make.scope('one'), { ...make.scope('two'), key: make.scope('one')['key'] }]],
    ['name', [make.scope('', { key: { fragments: [{ string_key: 'unnamed' }] } })]],
    ['key', [{ name: 'keyless', route_configuration_name: 'table' }]],
    ['fragments', [make.scope('empty', { key: { fragments: [] } })]],
    ofOtherType('wrong'),
  ],
  [LISTENER]: wrongListeners,
};

/** One of those that there are. */
export function wrongOf(type: string, make: Resources, below: (limit: number) => number): Wrong {
  const all = WRONGS[type]?.(make) ?? [];
  return all[below(all.length)] ?? ['', []];
}

function wrongClusters(make: Resources): readonly Wrong[] {
  const bad = (more: Message): readonly Message[] => [{ ...make.cluster('bad'), ...more }];
  const assigned = (locality: Message): readonly Message[] =>
    bad({ load_assignment: { cluster_name: 'bad', endpoints: [locality] } });
  const check = { http_health_check: { path: '/' }, interval: { seconds: 1 } };
  const counts = { healthy_threshold: { value: 1 }, unhealthy_threshold: { value: 1 } };
  return [
    ['connect_timeout', bad({ connect_timeout: { seconds: -1 } })],
    [
      'minimum_ring_size',
      bad({ ring_hash_lb_config: { minimum_ring_size: { value: 9_000_000 } } }),
    ],
    ['name', bad({ name: '' })],
    ['timeout', bad({ health_checks: [{ ...check, ...counts }] })],
    ['threshold', bad({ health_checks: [{ ...check, timeout: { seconds: 1 } }] })],
    ['max_ejection_percent', bad({ outlier_detection: { max_ejection_percent: { value: 101 } } })],
    [
      'healthy_panic_threshold',
      bad({ common_lb_config: { healthy_panic_threshold: { value: 150 } } }),
    ],
    ['priority', assigned({ lb_endpoints: [make.host()], priority: 200 })],
    ['address', assigned({ lb_endpoints: [{ endpoint: {} }] })],
    ['address', assigned({ lb_endpoints: [{ endpoint: { address: hostname('nowhere') } }] })],
    ['eds', bad({ type: 'EDS', load_assignment: undefined })],
    ['lb_policy', bad({ lb_policy: 'CLUSTER_PROVIDED' })],
    ['load_balancing_policy', bad({ lb_policy: 'LOAD_BALANCING_POLICY_CONFIG' })],
    ['tls', bad({ transport_socket: { name: 'tls', typed_config: { '@type': ANY + ROUTER } } })],
    ofOtherType('bad', LISTENER),
  ];
}

const hostname = (name: string): Message => ({
  socket_address: { address: name, port_value: 80 },
});

function wrongEndpoints(make: Resources): readonly Wrong[] {
  const bad = (locality: Message, more: Message = {}): readonly Message[] => [
    { cluster_name: 'origin', endpoints: [locality], ...more },
  ];
  const lb_endpoints = [make.host()];
  return [
    [
      'load_balancing_weight',
      bad({ lb_endpoints: [make.host({ load_balancing_weight: { value: 0 } })] }),
    ],
    ['load_balancing_weight', bad({ lb_endpoints, load_balancing_weight: { value: 0 } })],
    ['priority', bad({ lb_endpoints, priority: 129 })],
    ['port_value', bad({ lb_endpoints: [{ endpoint: { address: address(70_000) } }] })],
    ['address', bad({ lb_endpoints: [{ endpoint: { address: hostname('nowhere') } }] })],
    [
      'overprovisioning_factor',
      bad({ lb_endpoints }, { policy: { overprovisioning_factor: { value: 0 } } }),
    ],
    ['category', bad({ lb_endpoints }, { policy: { drop_overloads: [{ category: '' }] } })],
    ['type url', [{ '@type': ANY + CLUSTER, name: 'origin', cluster_name: 'origin' }]],
  ];
}

function wrongRoutes(make: Resources): readonly Wrong[] {
  const hosts = (...extra: readonly Message[]): readonly Message[] => [make.routes([], extra)];
  const host = (more: Message): Message => ({ name: 'bad', domains: ['bad.test'], ...more });
  const route = (more: Message): readonly Message[] =>
    hosts(host({ routes: [{ match: { prefix: '/' }, ...more }] }));
  const to = (more: Message): readonly Message[] =>
    route({ route: { cluster: 'origin', ...more } });
  return [
    ['name', hosts(host({ name: '' }))],
    ['domain', hosts(host({}), host({ name: 'other' }))],
    ['domain', hosts(host({ domains: ['*'] }))],
    ['domains', hosts(host({ domains: [] }))],
    ['match', hosts(host({ routes: [{ match: {}, route: { cluster: 'origin' } }] }))],
    ['regex', route({ match: { safe_regex: { regex: '(' } }, route: { cluster: 'origin' } })],
    ['action', route({})],
    ['status', route({ direct_response: { status: 99 } })],
    [
      'body',
      route({ direct_response: { status: 200, body: { inline_string: 'a'.repeat(5000) } } }),
    ],
    ['cluster', to({ cluster: '' })],
    ['key', route({ request_headers_to_add: [{ header: { key: '' } }], redirect: {} })],
    ['remove', route({ request_headers_to_remove: [':path'], redirect: {} })],
    ['base_interval', to({ retry_policy: { retry_back_off: { max_interval: { seconds: 1 } } } })],
    ['name', to({ hash_policy: [{ cookie: { name: '' } }] })],
    ['actions', to({ rate_limits: [{ actions: [] }] })],
    ['regex', to({ regex_rewrite: { pattern: { regex: '[' }, substitution: '' } })],
    ofOtherType('table'),
  ];
}

function wrongListeners(make: Resources): readonly Wrong[] {
  const bad = (manager: Message, chain: Message = {}): readonly Message[] => [
    make.listener('bad', manager, chain),
  ];
  const chained = (chains: readonly Message[]): readonly Message[] => [
    { ...make.listener('bad'), filter_chains: chains },
  ];
  const filters = [make.manager()];
  const match = { destination_port: { value: 7 } };
  const range = { address_prefix: 'nope', prefix_len: { value: 8 } };
  return [
    ['stat_prefix', bad({ stat_prefix: '' })],
    ['max_request_headers_kb', bad({ max_request_headers_kb: { value: 9000 } })],
    ['rds', bad({ rds: undefined })],
    ['filter', bad({ http_filters: [{ name: 'faults', typed_config: { '@type': ANY + FAULT } }] })],
    ['terminal', bad({}, { filters: [...filters, ...filters] })],
    ['http', bad({}, { filters: [{ name: 'http', typed_config: { '@type': ANY + FAULT } }] })],
    ['address', [{ ...make.listener('bad'), address: undefined }]],
    ['filter chain', chained([])],
    [
      'match',
      chained([
        { filters, filter_chain_match: match },
        { filters, filter_chain_match: match },
      ]),
    ],
    ['address', bad({}, { filter_chain_match: { prefix_ranges: [range] } })],
    ['server_names', bad({}, { filter_chain_match: { server_names: ['a*b.test'] } })],
    ofOtherType('bad'),
  ];
}
