// envoy.filters.http.health_check
import type { envoy_extensions_filters_http_health_check_v3_HealthCheck as HealthCheck } from '../../../build/messages.gen.js';
import { compileHeaderMatcher } from '../../plan/match/matchers.js';
import { wholeMs } from '../../plan/message/numbers.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';

const FIELDS = supportedFields<HealthCheck>(
  'envoy.extensions.filters.http.health_check.v3.HealthCheck',
  ['pass_through_mode', 'cache_time', 'cluster_min_healthy_percentages', 'headers'],
);

export const healthCheck = defineExtension<HealthCheck, HttpFilterPlan>({
  name: 'envoy.filters.http.health_check',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const passes = config.pass_through_mode ?? false;
    const cacheMs = wholeMs(config.cache_time, 0);
    if (!passes && cacheMs > 0) {
      place
        .field('cache_time')
        .error('cache_time_ms must not be set when path_through_mode is disabled', {
          expected: 'pass_through_mode: true, or no cache_time',
        });
    }
    // Who passes health checks on leaves it to the host to judge.
    const shares = passes ? [] : Object.entries(config.cluster_min_healthy_percentages ?? {});
    return {
      health_check: {
        pass_through: passes,
        cache_time_ms: cacheMs,
        headers: (config.headers ?? []).flatMap(
          (header, index) =>
            compileHeaderMatcher(header, place.field('headers').index(index)) ?? [],
        ),
        min_healthy: shares.map(([cluster, { value }]) => ({
          cluster,
          percent: Math.trunc(value ?? 0),
        })),
        local_cluster: context.serviceCluster,
      },
    };
  },
});
