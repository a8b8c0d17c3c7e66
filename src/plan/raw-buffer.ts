// Bytes in the clear, which is what there is without a transport socket.
import type { Named } from './extension.js';

export const RAW_BUFFER_NAME = 'envoy.transport_sockets.raw_buffer';
export const RAW_BUFFER_TYPE = 'envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer';

/** What a listener or a cluster without a transport socket has. */
export const RAW_BUFFER: Named = {
  name: RAW_BUFFER_NAME,
  typed_config: { $type: RAW_BUFFER_TYPE },
};
