// Control planes by the authorities of xdstp names that they know (config_sources and
// default_config_source of the bootstrap). Each has an aggregated stream of its own.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_core_v3_Authority as Authority,
  envoy_config_core_v3_ConfigSource as ConfigSource,
} from '../../build/messages.gen.js';
import { compileConfigSource, fetchTimeoutMs } from './config-source.js';
import { compileAggregated, type SourceContext } from './grpc/api-config-source.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import { parseResourceName } from './resource-name.js';
import type { AdsSource, Source, StreamPlan } from './sources.js';

const SOURCE = supportedFields<ConfigSource>('envoy.config.core.v3.ConfigSource', [
  'authorities',
  'api_config_source',
  'initial_fetch_timeout',
  'resource_api_version',
]);
const AUTHORITY = supportedFields<Authority>('envoy.config.core.v3.Authority', ['name']);
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

/** Where a resource of that name comes from. Undefined after an error. */
export function compileSourceOf(
  resource: string,
  message: ConfigSource | undefined,
  type: string,
  place: Place,
  context: SourceContext & { readonly authorities: Authorities },
): Source | undefined {
  return (
    context.authorities.sourceOf(resource) ?? compileConfigSource(message, type, place, context)
  );
}

/** Their streams, as Authorities counts them. `place`: of the bootstrap. */
export function compileAuthorities(
  { config_sources: sources = [], default_config_source: last }: Bootstrap,
  place: Place,
  context: SourceContext,
): readonly StreamPlan[] {
  const at = place.field('config_sources');
  const streams = sources.map((source, index) =>
    compileStream(source, at.index(index), false, context),
  );
  if (last) streams.push(compileStream(last, place.field('default_config_source'), true, context));
  return streams.flatMap((stream) => stream ?? []);
}

function compileStream(
  source: ConfigSource,
  place: Place,
  isDefault: boolean,
  context: SourceContext,
): StreamPlan | undefined {
  const { api_config_source: api, authorities = [] } = source;
  if (!api) {
    place.error(
      'Only api_config_source type is currently supported for xdstp-based config sources.',
    );
    return undefined;
  }
  refuseOtherFields(place, source, SOURCE);
  if (!isDefault && authorities.length === 0) {
    place.error('xdstp-based non-default config source must have at least one authority.');
  }
  const names = new Set<string>();
  authorities.forEach((authority, index) => {
    const at = place.field('authorities').index(index);
    refuseOtherFields(at, authority, AUTHORITY);
    const { name = '' } = authority;
    if (names.has(name)) {
      at.error(
        `xdstp-based config source authority ${name} is configured more than once in an ` +
          'xdstp-based config source.',
      );
    }
    names.add(name);
  });
  return compileAggregated(api, place.field('api_config_source'), context);
}
