// envoy.filters.listener.http_inspector: which HTTP a client speaks, by its first bytes.
import type { envoy_extensions_filters_listener_http_inspector_v3_HttpInspector as HttpInspector } from '../../../build/messages.gen.js';
import type { ListenerFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';

export const httpInspector = defineExtension<HttpInspector, ListenerFilterPlan>({
  name: 'envoy.filters.listener.http_inspector',
  type: 'envoy.extensions.filters.listener.http_inspector.v3.HttpInspector',
  compile: () => ({ http_inspector: {} }),
});
