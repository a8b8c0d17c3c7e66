// envoy.transport_sockets.raw_buffer: bytes in the clear, as without a transport socket.
import type { envoy_extensions_transport_sockets_raw_buffer_v3_RawBuffer as RawBuffer } from '../../../build/messages.gen.js';
import { defineExtension, type Named } from '../extension.js';

const NAME = 'envoy.transport_sockets.raw_buffer';
const TYPE = 'envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer';

/** What a listener or a cluster without a transport socket has. */
export const RAW_BUFFER: Named = { name: NAME, typed_config: { $type: TYPE } };

export const rawBuffer = defineExtension<RawBuffer, true>({
  name: NAME,
  type: TYPE,
  compile: () => true,
});

export function isRawBuffer(socket: Named): boolean {
  return socket.typed_config?.$type === TYPE;
}
