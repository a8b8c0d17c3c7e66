// envoy.filters.http.on_demand
import type {
  envoy_extensions_filters_http_on_demand_v3_OnDemand as OnDemand,
  envoy_extensions_filters_http_on_demand_v3_OnDemandCds as OnDemandCds,
  envoy_extensions_filters_http_on_demand_v3_PerRouteConfig as PerRoute,
} from '../../../build/messages.gen.js';
import { compileCollection } from '../../plan/collections.js';
import { MISSING_SOURCE, compileConfigSource } from '../../plan/config-source.js';
import { defineHttpFilter, type CompileContext } from '../../plan/extension.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { OnDemandClusters } from '../../plan/plan.gen.js';
import type { Collected } from '../../plan/sources.js';

const PACKAGE = 'envoy.extensions.filters.http.on_demand.v3';
const FILTER = supportedFields<OnDemand>(`${PACKAGE}.OnDemand`, ['odcds']);
const BY_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.PerRouteConfig`, ['odcds']);
const CLUSTERS = supportedFields<OnDemandCds>(`${PACKAGE}.OnDemandCds`, [
  'source',
  'resources_locator',
  'timeout',
]);

const DEFAULT_TIMEOUT_MS = 5000;

export const onDemand = defineHttpFilter<OnDemand, PerRoute>({
  name: 'envoy.filters.http.on_demand',
  type: FILTER.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FILTER);
    return { on_demand: compileClusters(config.odcds, place.field('odcds'), context) };
  },
  byRoute: {
    type: BY_ROUTE.type,
    compile(config, place, context) {
      refuseOtherFields(place, config, BY_ROUTE);
      return { on_demand: compileClusters(config.odcds, place.field('odcds'), context) };
    },
  },
});

/** Empty: nobody is asked for clusters. */
function compileClusters(
  config: OnDemandCds | undefined,
  place: Place,
  context: CompileContext,
): { readonly clusters?: OnDemandClusters } {
  if (!config) return {};
  refuseOtherFields(place, config, CLUSTERS);
  const collected = compileSource(config, place, context);
  if (!collected) return {};
  return {
    clusters: {
      source: context.clusterSources.add(collected),
      timeout_ms: wholeMs(config.timeout, DEFAULT_TIMEOUT_MS),
    },
  };
}

/** Undefined after an error. */
function compileSource(
  { source: message, resources_locator: locator = '' }: OnDemandCds,
  place: Place,
  context: CompileContext,
): Collected | undefined {
  const type = 'envoy.config.cluster.v3.Cluster';
  const at = place.field('source');
  if (locator !== '') {
    const where = place.field('resources_locator');
    return compileCollection(locator, type, where, { message, place: at }, context);
  }
  if (!message) at.error(MISSING_SOURCE);
  const source = compileConfigSource(message, type, at, context);
  return source && { source };
}
