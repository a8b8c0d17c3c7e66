// envoy.transport_sockets.raw_buffer: bytes in the clear, as without a transport socket.
import type { envoy_extensions_transport_sockets_raw_buffer_v3_RawBuffer as RawBuffer } from '../../../build/messages.gen.js';
import { defineExtension } from '../extension.js';

export const rawBuffer = defineExtension<RawBuffer, true>({
  name: 'envoy.transport_sockets.raw_buffer',
  type: 'envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer',
  compile: () => true,
});
