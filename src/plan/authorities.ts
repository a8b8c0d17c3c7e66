// Who is asked for resources with xdstp names: control planes by the authorities that they know
// (config_sources and default_config_source of the bootstrap). Each has an aggregated stream of its own.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_core_v3_ConfigSource as ConfigSource,
} from '../../build/messages.gen.js';
import { wholeMs } from './message/numbers.js';
import { parseResourceName } from './resource-name.js';
import type { AdsSource } from './sources.js';

const DEFAULT_INITIAL_FETCH_TIMEOUT_MS = 15_000;
/** As in the real server: without it nobody is asked so, and the streams are idle. */
export const ARE_USED = 'envoy.reloadable_features.xdstp_based_config_singleton_subscriptions';

interface Known {
  readonly source: ConfigSource;
  readonly names: readonly string[];
}

export class Authorities {
  /** In the order of their streams; the default is the last. */
  readonly #all: readonly Known[];
  readonly #hasDefault: boolean;
  readonly #areUsed: () => boolean;

  constructor(bootstrap: Bootstrap, areUsed: () => boolean) {
    const { config_sources: sources = [], default_config_source: last } = bootstrap;
    this.#all = [...sources, ...(last ? [last] : [])].map((source) => ({
      source,
      names: (source.authorities ?? []).map(({ name = '' }) => name),
    }));
    this.#hasDefault = last !== undefined;
    this.#areUsed = areUsed;
  }

  /** Undefined: whoever the resource's place says. */
  sourceOf(resource: string): AdsSource | undefined {
    const name = parseResourceName(resource);
    if (!name || this.#all.length === 0 || !this.#areUsed()) return undefined;
    const own = this.#hasDefault ? this.#all.slice(0, -1) : this.#all;
    const found = own.findIndex(({ names }) => names.includes(name.authority));
    const index = found < 0 && this.#hasDefault ? this.#all.length - 1 : found;
    const known = this.#all[index];
    if (!known) return undefined;
    return {
      ...{ kind: 'ads', authority: index },
      initialFetchTimeoutMs: fetchTimeoutMs(known.source),
    };
  }
}

/** How long whoever waits for a first answer of it does so. */
export const fetchTimeoutMs = ({ initial_fetch_timeout: timeout }: ConfigSource): number =>
  wholeMs(timeout, DEFAULT_INITIAL_FETCH_TIMEOUT_MS);
