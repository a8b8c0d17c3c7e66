// envoy.filters.listener.original_dst: where a client wanted to go whom the kernel redirected.
import type { envoy_extensions_filters_listener_original_dst_v3_OriginalDst as OriginalDst } from '../../../build/messages.gen.js';
import type { ListenerFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';

export const originalDst = defineExtension<OriginalDst, ListenerFilterPlan>({
  name: 'envoy.filters.listener.original_dst',
  type: 'envoy.extensions.filters.listener.original_dst.v3.OriginalDst',
  compile: () => ({ original_dst: {} }),
});
