// envoy.tracers.opentelemetry
import type { envoy_config_trace_v3_OpenTelemetryConfig as OpenTelemetryConfig } from '../../../build/messages.gen.js';
import { versionText } from '../../base/version.js';
import { defineExtension, type CompileContext } from '../../plan/extension.js';
import { compileGrpcService } from '../../plan/grpc/grpc-service.js';
import { compileHttpService } from '../../plan/http-service.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { Tracing_Kind } from '../../plan/plan.gen.js';
import type { ExporterPlan, TracerPlan } from '../../plan/tracer-plans.js';
import { compileResource } from '../open-telemetry/resource.js';
import { refuseOddClusters } from './collector.js';
import { compileSampler } from './open-telemetry-sampler.js';

const FIELDS = supportedFields<OpenTelemetryConfig>('envoy.config.trace.v3.OpenTelemetryConfig', [
  'grpc_service',
  'http_service',
  'service_name',
  'resource_detectors',
  'sampler',
  'max_cache_size',
  'set_telemetry_sdk_resource_attributes',
  'set_service_name_resource_attribute',
  'set_instrumentation_scope',
]);

/** As the real server calls itself to collectors. */
const OTLP_USER_AGENT = 'OTel-OTLP-Exporter-Envoy/';
const DEFAULT_CACHE_SIZE = 1024;
const DEFAULT_SERVICE = 'unknown_service:envoy';

type Collector = Extract<ExporterPlan, { kind: 'opentelemetry' }>['collector'];

export const openTelemetry = defineExtension<OpenTelemetryConfig, TracerPlan | undefined>({
  name: 'envoy.tracers.opentelemetry',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const collector = compileCollector(config, place, context);
    const sampler = config.sampler && compileSampler(config.sampler, place.field('sampler'));
    const detected = compileResource(config.resource_detectors, place.field('resource_detectors'));
    if (!collector) return undefined;
    const attributes = {
      ...(config.set_telemetry_sdk_resource_attributes !== false && {
        'telemetry.sdk.language': 'cpp',
        'telemetry.sdk.name': 'envoy',
        'telemetry.sdk.version': versionText(),
      }),
      ...(config.set_service_name_resource_attribute !== false && {
        'service.name': config.service_name || DEFAULT_SERVICE,
      }),
      ...detected,
    };
    return {
      spans: { kind: Tracing_Kind.OPEN_TELEMETRY, ...(sampler && { sampler }) },
      exporter: {
        kind: 'opentelemetry',
        collector,
        attributes,
        hasScope: config.set_instrumentation_scope !== false,
        maxCacheSize: config.max_cache_size ?? DEFAULT_CACHE_SIZE,
      },
    };
  },
});

function compileCollector(
  config: OpenTelemetryConfig,
  place: Place,
  context: CompileContext,
): Collector | undefined {
  const { grpc_service: grpc, http_service: http } = config;
  if ((grpc === undefined) === (http === undefined)) {
    place.error(
      'OpenTelemetry Tracer must have exactly one of gRPC, HTTP, or custom exporter configured.',
      { expected: 'grpc_service or http_service' },
    );
    return undefined;
  }
  if (http) {
    const at = place.field('http_service');
    const service = compileHttpService(http, at);
    refuseOddClusters(service.cluster, at, context);
    return { how: 'http', service };
  }
  if (!grpc) return undefined;
  const service = compileGrpcService(grpc, place.field('grpc_service'), context, {
    mayBeAway: true,
  });
  if (service?.kind !== 'envoy') return service && { how: 'grpc', service };
  const metadata = [['user-agent', OTLP_USER_AGENT + versionText()], ...service.metadata] as const;
  return { how: 'grpc', service: { ...service, metadata } };
}
