// envoy.resource_monitors.cgroup_memory: the memory of this process's cgroup.
import type { envoy_extensions_resource_monitors_cgroup_memory_v3_CgroupMemoryConfig as CgroupMemoryConfig } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { MonitorPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<CgroupMemoryConfig>(
  'envoy.extensions.resource_monitors.cgroup_memory.v3.CgroupMemoryConfig',
  ['max_memory_bytes'],
);

export const cgroupMemory = defineExtension<CgroupMemoryConfig, MonitorPlan>({
  name: 'envoy.resource_monitors.cgroup_memory',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const { max_memory_bytes: bytes = 0 } = config;
    return { kind: 'cgroup-memory', maxBytes: bytes > 0 ? bytes : undefined };
  },
});
