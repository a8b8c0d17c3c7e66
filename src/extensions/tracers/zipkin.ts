// envoy.tracers.zipkin
import type { envoy_config_trace_v3_ZipkinConfig as ZipkinConfig } from '../../../build/messages.gen.js';
import { compileHttpService, type HttpServicePlan } from '../../plan/http-service.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { Place } from '../../plan/message/place.js';
import { Tracing_Kind } from '../../plan/plan.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { TracerPlan } from '../../plan/tracer-plans.js';
import { findCollector } from './collector.js';

const FIELDS = supportedFields<ZipkinConfig>('envoy.config.trace.v3.ZipkinConfig', [
  'collector_cluster',
  'collector_endpoint',
  'collector_endpoint_version',
  'collector_hostname',
  'collector_service',
  'trace_id_128bit',
  'shared_span_context',
  'split_spans_for_request',
  'trace_context_option',
  'timestamp_trace_ids',
]);

export const zipkin = defineExtension<ZipkinConfig, TracerPlan | undefined>({
  name: 'envoy.tracers.zipkin',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const encoding = encodingOf(config, place);
    const collector = compileCollector(config, place);
    if (!collector || !encoding) return undefined;
    if (!findCollector('envoy.tracers.zipkin', collector, place, context)) return undefined;
    const isShared = config.shared_span_context ?? true;
    return {
      spans: {
        kind: Tracing_Kind.ZIPKIN,
        zipkin: {
          trace_id_128bit: config.trace_id_128bit,
          shared_context: isShared,
          splits_spans: config.split_spans_for_request,
          with_w3c: config.trace_context_option === 'USE_B3_WITH_W3C_PROPAGATION',
          timestamps_ids: config.timestamp_trace_ids,
        },
      },
      exporter: { kind: 'zipkin', collector, encoding, isShared },
    };
  },
});

function encodingOf(config: ZipkinConfig, place: Place): 'json' | 'proto' | undefined {
  const at = place.field('collector_endpoint_version');
  const version = config.collector_endpoint_version;
  if (version === 'HTTP_JSON') return 'json';
  if (version === 'HTTP_PROTO') return 'proto';
  if (version === 'GRPC') {
    at.error('GRPC of envoy.config.trace.v3.ZipkinConfig is not supported', {
      expected: 'HTTP_JSON or HTTP_PROTO',
    });
  } else {
    at.error(
      `type ${FIELDS.type} Using the default now-deprecated value DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE for enum '${FIELDS.type}.collector_endpoint_version'`,
      { expected: 'HTTP_JSON or HTTP_PROTO' },
    );
  }
  return undefined;
}

function compileCollector(config: ZipkinConfig, place: Place): HttpServicePlan | undefined {
  if (config.collector_service) {
    return compileHttpService(config.collector_service, place.field('collector_service'));
  }
  const { collector_cluster: cluster = '', collector_endpoint: path = '' } = config;
  if (cluster === '' || path === '') {
    place.error(
      'collector_cluster and collector_endpoint must be specified when not using collector_service',
    );
    return undefined;
  }
  return { cluster, path, host: config.collector_hostname || cluster, timeoutMs: 0, headers: [] };
}
