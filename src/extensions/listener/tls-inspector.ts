// envoy.filters.listener.tls_inspector: whether a client speaks TLS, for whom, and what it offers.
import type { envoy_extensions_filters_listener_tls_inspector_v3_TlsInspector as TlsInspector } from '../../../build/messages.gen.js';
import type { ListenerFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';

const DEFAULT_MAX_HELLO_BYTES = 16_384;

// How much is read at first does not matter here: as much as has come.
export const tlsInspector = defineExtension<TlsInspector, ListenerFilterPlan>({
  name: 'envoy.filters.listener.tls_inspector',
  type: 'envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector',
  compile: (config) => ({
    tls_inspector: {
      ja3: config.enable_ja3_fingerprinting,
      ja4: config.enable_ja4_fingerprinting,
      max_client_hello_bytes: config.max_client_hello_size ?? DEFAULT_MAX_HELLO_BYTES,
      refuses_malformed: config.close_connection_on_client_hello_parsing_errors,
    },
  }),
});
