// envoy.filters.http.grpc_stats
import type {
  envoy_config_core_v3_GrpcMethodList as MethodList,
  envoy_config_core_v3_GrpcMethodList_Service as Service,
  envoy_extensions_filters_http_grpc_stats_v3_FilterConfig as GrpcStats,
} from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<GrpcStats>(
  'envoy.extensions.filters.http.grpc_stats.v3.FilterConfig',
  [
    'individual_method_stats_allowlist',
    'stats_for_all_methods',
    'replace_dots_in_grpc_service_name',
    'emit_filter_state',
    'enable_upstream_stats',
  ],
);
const METHODS = supportedFields<MethodList>('envoy.config.core.v3.GrpcMethodList', ['services']);
const SERVICE = supportedFields<Service>('envoy.config.core.v3.GrpcMethodList.Service', [
  'name',
  'method_names',
]);

export const grpcStats = defineExtension<GrpcStats, HttpFilterPlan>({
  name: 'envoy.filters.http.grpc_stats',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const list = config.individual_method_stats_allowlist;
    const at = place.field('individual_method_stats_allowlist');
    if (list) refuseOtherFields(at, list, METHODS);
    const paths = (list?.services ?? []).flatMap((service, index) => {
      refuseOtherFields(at.field('services').index(index), service, SERVICE);
      return (service.method_names ?? []).map((method) => `/${service.name ?? ''}/${method}`);
    });
    return {
      grpc_stats: {
        all_methods: config.stats_for_all_methods,
        paths,
        replaces_dots: config.replace_dots_in_grpc_service_name,
        records_times: config.enable_upstream_stats,
        has_filter_state: config.emit_filter_state,
      },
    };
  },
});
