// The streams of authorities, and the sources of resources that may be theirs.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  xds_core_v3_Authority as Authority,
  envoy_config_core_v3_ConfigSource as ConfigSource,
} from '../../build/messages.gen.js';
import type { Authorities } from './authorities.js';
import { compileConfigSource } from './config-source.js';
import { compileAggregated, type SourceContext } from './grpc/api-config-source.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import type { Source, StreamPlan } from './sources.js';

const SOURCE = supportedFields<ConfigSource>('envoy.config.core.v3.ConfigSource', [
  'authorities',
  'api_config_source',
  'initial_fetch_timeout',
  'resource_api_version',
]);
const AUTHORITY = supportedFields<Authority>('xds.core.v3.Authority', ['name']);

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
