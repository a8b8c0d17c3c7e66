// envoy.stat_sinks.metrics_service
import type { envoy_config_metrics_v3_MetricsServiceConfig as MetricsServiceConfig } from '../../../build/messages.gen.js';
import { compileGrpcService } from '../../plan/grpc/grpc-service.js';
import { SinkFormat_Kind } from '../../plan/plan.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { SinkPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';

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
export const metricsService = defineExtension<MetricsServiceConfig, SinkPlan | undefined>({
  name: 'envoy.stat_sinks.metrics_service',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const service = compileGrpcService(
      config.grpc_service ?? {},
      place.field('grpc_service'),
      context,
    );
    if (!service) return undefined;
    const mode = config.histogram_emit_mode ?? 'SUMMARY_AND_HISTOGRAM';
    return {
      kind: 'metrics',
      service,
      batchSize: config.batch_size ?? 0,
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
