// The HTTP connection managers that are in place, wherever their filters come from.
import type { envoy_config_listener_v3_FilterChain as FilterChain } from '../../../build/messages.gen.js';
import { isObject, type PlainObject } from '../../config/values/objects.js';
import type { AdminHost } from '../host.js';

const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

export interface Manager {
  /** Decoded. */
  readonly config: PlainObject;
  /** Milliseconds since 1970. */
  readonly updatedMs: number;
}

export function* managersOf({ bootstrap, configuredMs, xds }: AdminHost): Generator<Manager> {
  const listeners = bootstrap.static_resources?.listeners ?? [];
  for (const { filter_chains: some = [], default_filter_chain: last } of listeners) {
    for (const chain of last ? [...some, last] : some) yield* managersIn(chain, configuredMs);
  }
  for (const { message, createdMs } of xds?.listeners()?.chains ?? []) {
    yield* managersIn(message, createdMs);
  }
  for (const { message, updatedMs } of xds?.extensions() ?? []) {
    const own = { filters: [{ typed_config: message.typed_config }] };
    yield* managersIn(own as FilterChain, updatedMs);
  }
}

/** Whether there is one, in place or in a listener that waits for what it needs. */
export function hasManager(host: AdminHost): boolean {
  if (!managersOf(host).next().done) return true;
  const warming = host.xds?.listeners()?.warming ?? [];
  return warming.some(({ message, updatedMs }) => {
    const { filter_chains: some = [], default_filter_chain: last } = message;
    const chains = last ? [...some, last] : some;
    return chains.some((chain) => !managersIn(chain, updatedMs).next().done);
  });
}

function* managersIn({ filters = [] }: FilterChain, updatedMs: number): Generator<Manager> {
  for (const { typed_config: config } of filters) {
    if (isObject(config) && config['$type'] === HCM) yield { config, updatedMs };
  }
}
