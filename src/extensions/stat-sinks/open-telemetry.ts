// envoy.stat_sinks.open_telemetry
import type { envoy_extensions_stat_sinks_open_telemetry_v3_SinkConfig as SinkConfig } from '../../../build/messages.gen.js';
import { versionText } from '../../base/version.js';
import { defineExtension, type CompileContext } from '../../plan/extension.js';
import type { OtlpCollector, SinkPlan } from '../../plan/extension-plans.js';
import { compileGrpcService } from '../../plan/grpc/grpc-service.js';
import { compileHttpService } from '../../plan/http-service.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { SinkFormat_Kind } from '../../plan/plan.gen.js';
import { compileResource } from '../open-telemetry/resource.js';
import { refuseOddClusters } from '../tracers/collector.js';

const FIELDS = supportedFields<SinkConfig>(
  'envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig',
  [
    'grpc_service',
    'http_service',
    'report_counters_as_deltas',
    'report_histograms_as_deltas',
    'emit_tags_as_attributes',
    'use_tag_extracted_name',
    'prefix',
    'resource_detectors',
    'max_data_points_per_request',
  ],
);

export const openTelemetryStats = defineExtension<SinkConfig, SinkPlan | undefined>({
  name: 'envoy.stat_sinks.open_telemetry',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const detected = compileResource(config.resource_detectors, place.field('resource_detectors'));
    const collector = compileCollector(config, place, context);
    if (!collector) return undefined;
    const countersAreDeltas = config.report_counters_as_deltas ?? false;
    const histogramsAreDeltas = config.report_histograms_as_deltas ?? false;
    const hasLabels = config.emit_tags_as_attributes ?? true;
    const hasWholeNames = !(config.use_tag_extracted_name ?? true);
    return {
      kind: 'otlp',
      collector,
      attributes: {
        'telemetry.sdk.language': 'cpp',
        'telemetry.sdk.name': 'envoy',
        'telemetry.sdk.version': versionText(),
        ...detected,
      },
      prefix: config.prefix ?? '',
      hasLabels,
      countersAreDeltas,
      histogramsAreDeltas,
      maxPoints: config.max_data_points_per_request ?? 0,
      format: {
        kind: SinkFormat_Kind.METRICS,
        deltas: countersAreDeltas,
        labels: true,
        whole_names: hasWholeNames,
        histograms: true,
        totals: !histogramsAreDeltas,
      },
    };
  },
});

function compileCollector(
  config: SinkConfig,
  place: Place,
  context: CompileContext,
): OtlpCollector | undefined {
  if (config.http_service) {
    const at = place.field('http_service');
    const service = compileHttpService(config.http_service, at);
    refuseOddClusters(service.cluster, at, context);
    return { how: 'http', service };
  }
  const service = compileGrpcService(
    config.grpc_service ?? {},
    place.field('grpc_service'),
    context,
  );
  return service && { how: 'grpc', service };
}
