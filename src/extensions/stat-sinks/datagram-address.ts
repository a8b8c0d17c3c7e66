// Where a statsd server listens.
import type { envoy_config_core_v3_Address as AddressMessage } from '../../../build/messages.gen.js';
import { compileAddress } from '../../plan/address/address.js';
import type { Place } from '../../plan/message/place.js';
import type { Address } from '../../plan/plan.gen.js';

/** Its protocol may be spelled out or not: these are datagrams either way. */
export function compileDatagramAddress(
  message: AddressMessage | undefined,
  place: Place,
): Address | undefined {
  if (!message?.socket_address) return compileAddress(message, place);
  const { protocol: _, ...socketAddress } = message.socket_address;
  return compileAddress({ socket_address: socketAddress }, place);
}
