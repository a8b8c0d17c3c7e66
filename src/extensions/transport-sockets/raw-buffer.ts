// envoy.transport_sockets.raw_buffer: bytes in the clear, as without a transport socket.
import type { envoy_extensions_transport_sockets_raw_buffer_v3_RawBuffer as RawBuffer } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import { RAW_BUFFER_NAME, RAW_BUFFER_TYPE } from '../../plan/raw-buffer.js';

export const rawBuffer = defineExtension<RawBuffer, true>({
  name: RAW_BUFFER_NAME,
  type: RAW_BUFFER_TYPE,
  compile: () => true,
});
