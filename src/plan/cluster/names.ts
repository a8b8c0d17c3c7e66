// Caches of names that requests ask for: where dynamic forward proxies look up hosts. Filters and
// clusters that speak of the same one have the same settings of it.
import type {
  envoy_config_core_v3_SocketAddress as SocketAddress,
  envoy_extensions_common_dynamic_forward_proxy_v3_DnsCacheCircuitBreakers as Breakers,
  envoy_extensions_common_dynamic_forward_proxy_v3_DnsCacheConfig as CacheMessage,
} from '../../../build/messages.gen.js';
import type { AskedName, HostNamesPlan } from './cluster-plan.js';
import { compileResolver } from '../dns-resolver.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { SharedNames } from '../shared-names.js';

const PACKAGE = 'envoy.extensions.common.dynamic_forward_proxy.v3';
const CACHE = supportedFields<CacheMessage>(`${PACKAGE}.DnsCacheConfig`, [
  'name',
  'dns_lookup_family',
  'dns_refresh_rate',
  'host_ttl',
  'max_hosts',
  'dns_failure_refresh_rate',
  'dns_cache_circuit_breaker',
  'preresolve_hostnames',
  'dns_query_timeout',
  'dns_min_refresh_rate',
  'disable_dns_refresh_on_failure',
  'dns_resolution_config',
  'typed_dns_resolver_config',
  'use_tcp_for_dns_lookups',
]);
const BREAKERS = supportedFields<Breakers>(`${PACKAGE}.DnsCacheCircuitBreakers`, [
  'max_pending_requests',
]);
const ADDRESS = supportedFields<SocketAddress>('envoy.config.core.v3.SocketAddress', [
  'protocol',
  'address',
  'port_value',
]);

const DEFAULT_REFRESH_MS = 60_000;
const DEFAULT_MIN_REFRESH_MS = 5_000;
const DEFAULT_TTL_MS = 300_000;
const DEFAULT_QUERY_TIMEOUT_MS = 5_000;
const DEFAULT_MAX = 1024;

/** All caches that a configuration speaks of. */
export class NamePlans implements SharedNames {
  readonly #hosts = new Map<string, { readonly text: string; readonly plan: HostNamesPlan }>();
  #onNew: ((plan: HostNamesPlan) => void) | undefined;

  get hosts(): readonly HostNamesPlan[] {
    return [...this.#hosts.values()].map(({ plan }) => plan);
  }

  /** Those that come later. */
  follow(onNew: (plan: HostNamesPlan) => void): void {
    this.#onNew = onNew;
  }

  add(message: CacheMessage, place: Place): string | undefined {
    const { name = '' } = message;
    const text = JSON.stringify(message);
    const known = this.#hosts.get(name);
    if (known) {
      if (known.text === text) return name;
      place.error(`config specified DNS cache '${name}' with different settings`, {
        expected: 'the same settings wherever the cache is named',
      });
      return undefined;
    }
    const plan = compileCache(message, place);
    this.#hosts.set(name, { text, plan });
    this.#onNew?.(plan);
    return name;
  }
}

function compileCache(message: CacheMessage, place: Place): HostNamesPlan {
  refuseOtherFields(place, message, CACHE);
  const { name = '', max_hosts: max = DEFAULT_MAX } = message;
  const breakers = message.dns_cache_circuit_breaker ?? {};
  refuseOtherFields(place.field('dns_cache_circuit_breaker'), breakers, BREAKERS);
  const atOnce = compileNames(message.preresolve_hostnames, place.field('preresolve_hostnames'));
  if (atOnce.length > max) {
    place
      .field('preresolve_hostnames')
      .error(
        `DNS Cache [${name}] configured with preresolve_hostnames=${atOnce.length} larger than max_hosts=${max}`,
      );
  }
  const resolver = compileResolver(message, place);
  const failure = message.dns_failure_refresh_rate;
  const baseMs = wholeMs(failure?.base_interval, 0);
  return {
    cache: {
      name,
      stat_prefix: name === '' ? 'dns_cache.' : `dns_cache.${name}.`,
      max_names: max,
      max_pending: breakers.max_pending_requests ?? DEFAULT_MAX,
    },
    lookup: message.dns_lookup_family ?? 'AUTO',
    refreshMs: wholeMs(message.dns_refresh_rate, DEFAULT_REFRESH_MS),
    minRefreshMs: wholeMs(message.dns_min_refresh_rate, DEFAULT_MIN_REFRESH_MS),
    ...(failure && {
      failureRefresh: { baseMs, maxMs: wholeMs(failure.max_interval, baseMs * 10) },
    }),
    forgetsFailures: message.disable_dns_refresh_on_failure ?? false,
    ttlMs: wholeMs(message.host_ttl, DEFAULT_TTL_MS),
    queryTimeoutMs: wholeMs(message.dns_query_timeout, DEFAULT_QUERY_TIMEOUT_MS),
    ...(resolver && { resolver }),
    atOnce,
  };
}

export function compileNames(
  addresses: readonly SocketAddress[] | undefined,
  place: Place,
): AskedName[] {
  return (addresses ?? []).map((address, index) => {
    refuseOtherFields(place.index(index), address, ADDRESS);
    return { host: address.address ?? '', port: address.port_value ?? 0 };
  });
}
