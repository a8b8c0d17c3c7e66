// envoy.resource_monitors.cpu_utilization: how busy the machine's processors are, or the container's share
// of them.
import type { envoy_extensions_resource_monitors_cpu_utilization_v3_CpuUtilizationConfig as CpuUtilizationConfig } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { MonitorPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<CpuUtilizationConfig>(
  'envoy.extensions.resource_monitors.cpu_utilization.v3.CpuUtilizationConfig',
  ['mode'],
);

export const cpuUtilization = defineExtension<CpuUtilizationConfig, MonitorPlan>({
  name: 'envoy.resource_monitors.cpu_utilization',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { kind: 'cpu', of: config.mode === 'CONTAINER' ? 'container' : 'host' };
  },
});
