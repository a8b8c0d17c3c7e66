// Who is asked for names: a cluster's resolver, as its extension or its older fields say.
import type {
  envoy_config_core_v3_Address as Address,
  envoy_config_core_v3_DnsResolutionConfig as ResolutionMessage,
  envoy_config_core_v3_DnsResolverOptions as OptionsMessage,
  envoy_config_core_v3_TypedExtensionConfig as TypedExtension,
  envoy_extensions_network_dns_resolver_cares_v3_CaresDnsResolverConfig as CaresMessage,
  envoy_extensions_network_dns_resolver_getaddrinfo_v3_GetAddrInfoDnsResolverConfig as SystemMessage,
} from '../../build/messages.gen.js';
import { parseIp } from './address/ip.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';

const PACKAGE = 'envoy.extensions.network.dns_resolver';
const CARES_TYPE = `${PACKAGE}.cares.v3.CaresDnsResolverConfig`;
const SYSTEM_TYPE = `${PACKAGE}.getaddrinfo.v3.GetAddrInfoDnsResolverConfig`;
// How many questions one socket asks, and for how long, is the resolver's own affair here.
const CARES = supportedFields<CaresMessage>(CARES_TYPE, [
  'resolvers',
  'dns_resolver_options',
  'use_resolvers_as_fallback',
  'udp_max_queries',
  'max_udp_channel_duration',
  'reinit_channel_on_timeout',
  'query_timeout_seconds',
  'query_tries',
]);
// How many threads wait for answers is Node's own affair.
const SYSTEM = supportedFields<SystemMessage>(SYSTEM_TYPE, ['num_resolver_threads']);
const RESOLUTION = supportedFields<ResolutionMessage>('envoy.config.core.v3.DnsResolutionConfig', [
  'resolvers',
  'dns_resolver_options',
]);
const OPTIONS = supportedFields<OptionsMessage>('envoy.config.core.v3.DnsResolverOptions', [
  'no_default_search_domain',
  'use_tcp_for_dns_lookups',
]);

const DEFAULT_PORT = 53;

export interface ResolverPlan {
  /** "192.0.2.1:53"; empty: those of the system. */
  readonly servers: readonly string[];
  /** They are asked only where the system has none. */
  readonly areFallback: boolean;
  /** They are asked by TCP. */
  readonly usesTcp: boolean;
  /** Short names are not looked up in the system's domains. */
  readonly hasNoSearch: boolean;
  /** Of the first try; absent: the resolver's own. */
  readonly timeoutMs?: number;
  readonly tries?: number;
  /** The system's library is asked, not its servers. */
  readonly isOfSystem?: boolean;
}

/** What a message says of resolvers, the first of these that it has. */
export interface ResolverFields {
  readonly typed_dns_resolver_config?: TypedExtension | undefined;
  readonly dns_resolution_config?: ResolutionMessage | undefined;
  readonly dns_resolvers?: readonly Address[] | undefined;
  readonly use_tcp_for_dns_lookups?: boolean | undefined;
}

/** Undefined: the system's; or after an error. */
export function compileResolver(fields: ResolverFields, place: Place): ResolverPlan | undefined {
  const { typed_dns_resolver_config: typed, dns_resolution_config: older } = fields;
  if (typed) return compileTyped(typed, place.field('typed_dns_resolver_config'));
  if (older) {
    const at = place.field('dns_resolution_config');
    refuseOtherFields(at, older, RESOLUTION);
    return compileServers(older.resolvers, older.dns_resolver_options, at);
  }
  const usesTcp = fields.use_tcp_for_dns_lookups ?? false;
  if (!fields.dns_resolvers?.length && !usesTcp) return undefined;
  return { ...compileServers(fields.dns_resolvers, undefined, place, 'dns_resolvers'), usesTcp };
}

function compileTyped(
  { name = '', typed_config: config }: TypedExtension,
  place: Place,
): ResolverPlan | undefined {
  const at = place.field('typed_config');
  if (config?.$type === CARES_TYPE) {
    const message = config as CaresMessage;
    refuseOtherFields(at.within(CARES_TYPE), message, CARES);
    const servers = compileServers(message.resolvers, message.dns_resolver_options, at);
    const { query_timeout_seconds: seconds, query_tries: tries } = message;
    return {
      ...servers,
      areFallback: message.use_resolvers_as_fallback ?? false,
      ...(seconds !== undefined && { timeoutMs: seconds * 1000 }),
      ...(tries !== undefined && { tries }),
    };
  }
  if (config?.$type === SYSTEM_TYPE) {
    refuseOtherFields(at.within(SYSTEM_TYPE), config, SYSTEM);
    return {
      ...{ servers: [], areFallback: false, usesTcp: false },
      ...{ hasNoSearch: false, isOfSystem: true },
    };
  }
  at.error(`the extension '${name}' (${config?.$type ?? ''}) is not supported yet`, {
    expected: `${CARES_TYPE} or ${SYSTEM_TYPE}`,
  });
  return undefined;
}

function compileServers(
  resolvers: readonly Address[] | undefined,
  options: OptionsMessage | undefined,
  place: Place,
  field = 'resolvers',
): ResolverPlan {
  if (options) refuseOtherFields(place.field('dns_resolver_options'), options, OPTIONS);
  const servers = (resolvers ?? []).flatMap((resolver, index) => {
    const socket = resolver.socket_address;
    if (!socket) {
      place.field(field).index(index).error('a resolver has an address of its own', {
        expected: 'socket_address',
      });
      return [];
    }
    const { address = '', port_value: port = 0 } = socket;
    if (!parseIp(address)) {
      const at = place.field(field).index(index).field('socket_address').field('address');
      at.error(`malformed IP address: ${address}`, { expected: 'an IPv4 or IPv6 address' });
      return [];
    }
    const host = address.includes(':') ? `[${address}]` : address;
    return `${host}:${port || DEFAULT_PORT}`;
  });
  return {
    servers,
    areFallback: false,
    usesTcp: options?.use_tcp_for_dns_lookups ?? false,
    hasNoSearch: options?.no_default_search_domain ?? false,
  };
}
