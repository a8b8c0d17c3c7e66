// Localities: by weight, or by zones, so that requests stay near the proxy.
import type {
  envoy_config_cluster_v3_Cluster_CommonLbConfig as CommonLbConfig,
  envoy_config_cluster_v3_Cluster_CommonLbConfig_ZoneAwareLbConfig as OldZoneConfig,
  envoy_extensions_load_balancing_policies_common_v3_LocalityLbConfig as LocalityLbConfig,
  envoy_extensions_load_balancing_policies_common_v3_LocalityLbConfig_ZoneAwareLbConfig as ZoneConfig,
  envoy_extensions_load_balancing_policies_common_v3_LocalityLbConfig_ZoneAwareLbConfig_ForceLocalZone as ForceLocalZone,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { wholePercent } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Cluster, ZoneRouting } from '../plan.gen.js';

/** What a balancer's configuration says of localities. */
export type LocalityPlan = Pick<Cluster, 'weighs_localities' | 'fails_in_panic' | 'zones'>;

const LOCALITIES = supportedFields<LocalityLbConfig>(
  'envoy.extensions.load_balancing_policies.common.v3.LocalityLbConfig',
  ['zone_aware_lb_config', 'locality_weighted_lb_config'],
);
const ZONES = supportedFields<ZoneConfig>(
  'envoy.extensions.load_balancing_policies.common.v3.LocalityLbConfig.ZoneAwareLbConfig',
  [
    'routing_enabled',
    'min_cluster_size',
    'fail_traffic_on_panic',
    'force_locality_direct_routing',
    'force_local_zone',
    'locality_basis',
  ],
);
const OLD_ZONES = supportedFields<OldZoneConfig>(
  'envoy.config.cluster.v3.Cluster.CommonLbConfig.ZoneAwareLbConfig',
  ['routing_enabled', 'min_cluster_size', 'fail_traffic_on_panic'],
);
const FORCED = supportedFields<ForceLocalZone>(
  'envoy.extensions.load_balancing_policies.common.v3.LocalityLbConfig.ZoneAwareLbConfig.ForceLocalZone',
  ['min_size'],
);

const DEFAULT_MIN_CLUSTER_SIZE = 6;
const DEFAULT_FORCED_FROM = 1;

/** The cluster's own field, for balancers that are named by lb_policy. */
export function compileOldLocalities(
  common: CommonLbConfig,
  place: Place,
  context: CompileContext,
): LocalityPlan {
  const zones = common.zone_aware_lb_config;
  if (zones) refuseOtherFields(place.field('zone_aware_lb_config'), zones, OLD_ZONES);
  return {
    weighs_localities: common.locality_weighted_lb_config !== undefined,
    fails_in_panic: zones?.fail_traffic_on_panic,
    zones: compileZones(zones ?? {}, context),
  };
}

/** The locality_lb_config of an extension. */
export function compileLocalities(
  config: LocalityLbConfig | undefined,
  place: Place,
  context: CompileContext,
): LocalityPlan {
  if (config) refuseOtherFields(place, config, LOCALITIES);
  const zones = config?.zone_aware_lb_config;
  if (zones) {
    const at = place.field('zone_aware_lb_config');
    refuseOtherFields(at, zones, ZONES);
    if (zones.force_local_zone) {
      refuseOtherFields(at.field('force_local_zone'), zones.force_local_zone, FORCED);
    }
  }
  return {
    weighs_localities: config?.locality_weighted_lb_config !== undefined,
    fails_in_panic: zones?.fail_traffic_on_panic,
    zones: compileZones(zones ?? {}, context),
  };
}

/** Undefined where no cluster is known as this proxy's own: then zones do not count. */
function compileZones(config: ZoneConfig, context: CompileContext): ZoneRouting | undefined {
  const { localCluster: local, runtime } = context;
  if (!local) return undefined;
  const share = wholePercent(config.routing_enabled, 100);
  const enabled = runtime.liveMillionths('upstream.zone_routing.enabled', { numerator: share });
  const size = runtime.liveNumber(
    'upstream.zone_routing.min_cluster_size',
    config.min_cluster_size ?? DEFAULT_MIN_CLUSTER_SIZE,
  );
  return {
    region: local.locality.region,
    zone: local.locality.zone,
    sub_zone: local.locality.sub_zone,
    enabled_millionths: enabled.value,
    enabled_slot: enabled.slot,
    min_cluster_size: size.value,
    min_cluster_size_slot: size.slot,
    forced_from: forcedFrom(config, context),
    by_weight: config.locality_basis === 'HEALTHY_HOSTS_WEIGHT',
  };
}

function forcedFrom(config: ZoneConfig, context: CompileContext): number | undefined {
  const key = 'upstream.zone_routing.force_local_zone.min_size';
  const ofRuntime = context.runtime.number(key, 0);
  if (ofRuntime > 0) return ofRuntime;
  if (config.force_local_zone) return config.force_local_zone.min_size ?? DEFAULT_FORCED_FROM;
  return config.force_locality_direct_routing ? DEFAULT_FORCED_FROM : undefined;
}
