// envoy.tracers.datadog
import type { envoy_config_trace_v3_DatadogConfig as DatadogConfig } from '../../../build/messages.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { Tracing_Kind } from '../../plan/plan.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { TracerPlan } from '../../plan/tracer-plans.js';
import { findCollector } from './collector.js';

const FIELDS = supportedFields<DatadogConfig>('envoy.config.trace.v3.DatadogConfig', [
  'collector_cluster',
  'collector_hostname',
  'service_name',
]);

const DEFAULT_SERVICE = 'envoy';

export const datadog = defineExtension<DatadogConfig, TracerPlan | undefined>({
  name: 'envoy.tracers.datadog',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const { collector_cluster: cluster = '' } = config;
    const collector = {
      cluster,
      host: config.collector_hostname || cluster,
      path: '/v0.4/traces',
      timeoutMs: 2000,
      headers: [],
    };
    if (!findCollector('envoy.tracers.datadog', collector, place, context)) return undefined;
    return {
      spans: { kind: Tracing_Kind.DATADOG },
      exporter: {
        kind: 'datadog',
        collector,
        service: process.env['DD_SERVICE'] || config.service_name || DEFAULT_SERVICE,
        env: process.env['DD_ENV'] ?? '',
        version: process.env['DD_VERSION'] ?? '',
      },
    };
  },
});
