// envoy.resource_monitors.fixed_heap: the memory that this process has (total_physical_bytes of /memory).
import type { envoy_extensions_resource_monitors_fixed_heap_v3_FixedHeapConfig as FixedHeapConfig } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { MonitorPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<FixedHeapConfig>(
  'envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig',
  ['max_heap_size_bytes', 'max_heap_size_bytes_runtime'],
);

export const fixedHeap = defineExtension<FixedHeapConfig, MonitorPlan | undefined>({
  name: 'envoy.resource_monitors.fixed_heap',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const { max_heap_size_bytes: bytes = 0, max_heap_size_bytes_runtime: runtime } = config;
    if (bytes > 0 && runtime) {
      place.error(
        'fixed_heap: exactly one of max_heap_size_bytes or max_heap_size_bytes_runtime must be set',
      );
      return undefined;
    }
    const maxBytes = runtime ? (runtime.default_value ?? 0) : bytes;
    if (maxBytes <= 0) {
      place.error('fixed_heap: max heap size must be greater than 0');
      return undefined;
    }
    return { kind: 'heap', maxBytes, runtimeKey: runtime?.runtime_key };
  },
});
