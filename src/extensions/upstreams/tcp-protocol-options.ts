// envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions
import type { envoy_extensions_upstreams_tcp_v3_TcpProtocolOptions as TcpProtocolOptions } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

// Its idle_timeout is of connections that wait for a client: every one here is made for one, and ends
// with it.
const FIELDS = supportedFields<TcpProtocolOptions>(
  'envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions',
  ['idle_timeout'],
);

/** Says nothing of HTTP. */
export const tcpProtocolOptions = defineExtension<TcpProtocolOptions, undefined>({
  name: FIELDS.type,
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return undefined;
  },
});
