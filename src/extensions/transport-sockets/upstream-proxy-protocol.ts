// envoy.transport_sockets.upstream_proxy_protocol: connections to hosts begin by saying whom they are
// for; another transport socket says what follows.
import type {
  envoy_config_core_v3_ProxyProtocolConfig as ProxyProtocolConfig,
  envoy_config_core_v3_TlvEntry as TlvEntry,
  envoy_extensions_transport_sockets_proxy_protocol_v3_ProxyProtocolUpstreamTransport as UpstreamTransport,
} from '../../../build/messages.gen.js';
import { compileUpstreamSocket } from '../../plan/cluster/upstream-socket.js';
import { defineExtension } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { AddedTlv } from '../../plan/plan.gen.js';
import { passedTlvs } from '../../plan/passed-tlvs.js';
import type { UpstreamSocketPlan } from '../../plan/tls-socket.js';

// Connections are shared by nobody whose values differ: tlv_as_pool_key or not.
const TRANSPORT = supportedFields<UpstreamTransport>(
  'envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport',
  ['config', 'transport_socket', 'allow_unspecified_address', 'tlv_as_pool_key'],
);
const CONFIG = supportedFields<ProxyProtocolConfig>('envoy.config.core.v3.ProxyProtocolConfig', [
  'version',
  'pass_through_tlvs',
  'added_tlvs',
]);
const TLV = supportedFields<TlvEntry>('envoy.config.core.v3.TlvEntry', ['type', 'value']);

/** Undefined after an error. */
export const upstreamProxyProtocol = defineExtension<
  UpstreamTransport,
  UpstreamSocketPlan | undefined
>({
  name: 'envoy.transport_sockets.upstream_proxy_protocol',
  type: TRANSPORT.type,
  compile: (message, place, context) => {
    refuseOtherFields(place, message, TRANSPORT);
    const config = message.config ?? {};
    const at = place.field('config');
    refuseOtherFields(at, config, CONFIG);
    const socketPlace = place.field('transport_socket');
    const inner = compileUpstreamSocket(message.transport_socket, socketPlace, context);
    if (inner?.proxyProtocol) {
      socketPlace.error('the PROXY protocol within the PROXY protocol is not supported', {
        expected: 'raw_buffer or tls',
      });
      return undefined;
    }
    const proxyProtocol = {
      is_version_2: config.version === 'V2',
      ...passedTlvs(config.pass_through_tlvs),
      added_tlvs: (config.added_tlvs ?? []).map((tlv, index) =>
        compileTlv(tlv, at.field('added_tlvs').index(index)),
      ),
      allows_unspecified: message.allow_unspecified_address,
    };
    return inner && { ...inner, proxyProtocol };
  },
});

function compileTlv(tlv: TlvEntry, place: Place): AddedTlv {
  refuseOtherFields(place, tlv, TLV);
  if (!tlv.value?.length && !tlv.format_string) {
    place.error("Invalid TLV configuration: one of 'value' or 'format_string' must be set.");
  }
  return { type: tlv.type, value: tlv.value };
}
