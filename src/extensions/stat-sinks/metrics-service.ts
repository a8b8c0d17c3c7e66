// envoy.stat_sinks.metrics_service
import type {
  envoy_config_core_v3_GrpcService as GrpcService,
  envoy_config_core_v3_GrpcService_EnvoyGrpc as EnvoyGrpc,
  envoy_config_metrics_v3_MetricsServiceConfig as MetricsServiceConfig,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../../plan/context.js';
import type { Place } from '../../plan/place.js';
import { SinkFormat_Kind } from '../../plan/plan.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/supported-fields.js';
import type { SinkPlan } from '../../stats/sink-plan.js';
import { defineExtension } from '../extension.js';

/** There is but one version of the service; the oldest name for it is taken for it, too. */
const FIELDS = supportedFields<MetricsServiceConfig>(
  'envoy.config.metrics.v3.MetricsServiceConfig',
  [
    'grpc_service',
    'transport_api_version',
    'report_counters_as_deltas',
    'emit_tags_as_labels',
    'histogram_emit_mode',
    'batch_size',
  ],
);
/** A stream has no timeout in the real server either. */
const SERVICE = supportedFields<GrpcService>('envoy.config.core.v3.GrpcService', [
  'envoy_grpc',
  'timeout',
  'initial_metadata',
]);
const ENVOY_GRPC = supportedFields<EnvoyGrpc>('envoy.config.core.v3.GrpcService.EnvoyGrpc', [
  'cluster_name',
  'authority',
]);

export const metricsService = defineExtension<MetricsServiceConfig, SinkPlan | undefined>({
  name: 'envoy.stat_sinks.metrics_service',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const service = config.grpc_service ?? {};
    const target = compileTarget(service, place.field('grpc_service'), context);
    if (!target) return undefined;
    const mode = config.histogram_emit_mode ?? 'SUMMARY_AND_HISTOGRAM';
    return {
      kind: 'metrics',
      ...target,
      batchSize: config.batch_size ?? 0,
      metadata: (service.initial_metadata ?? []).map(({ key, value }) => [key ?? '', value ?? '']),
      format: {
        kind: SinkFormat_Kind.METRICS,
        deltas: config.report_counters_as_deltas ?? false,
        labels: config.emit_tags_as_labels ?? false,
        summaries: mode !== 'HISTOGRAM',
        histograms: mode !== 'SUMMARY',
      },
    };
  },
});

function compileTarget(
  service: GrpcService,
  place: Place,
  context: CompileContext,
): { readonly cluster: string; readonly authority: string } | undefined {
  refuseOtherFields(place, service, SERVICE);
  if (!service.envoy_grpc) return undefined;
  refuseOtherFields(place.field('envoy_grpc'), service.envoy_grpc, ENVOY_GRPC);
  const { cluster_name: cluster = '', authority = '' } = service.envoy_grpc;
  if (!context.clusterNames.has(cluster)) {
    place
      .field('envoy_grpc')
      .field('cluster_name')
      .error(`Unknown gRPC client cluster '${cluster}'`, {
        expected: 'the name of a static cluster',
      });
  }
  return { cluster, authority: authority || cluster };
}
