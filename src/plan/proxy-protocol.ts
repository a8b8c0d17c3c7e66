// The header of the PROXY protocol that tells hosts whom connections are for.
import type {
  envoy_config_core_v3_ProxyProtocolConfig as ProxyProtocolConfig,
  envoy_config_core_v3_TlvEntry as TlvEntry,
} from '../../build/messages.gen.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import { passedTlvs } from './passed-tlvs.js';
import type { AddedTlv, ProxyProtocolSocket } from './plan.gen.js';

const CONFIG = supportedFields<ProxyProtocolConfig>('envoy.config.core.v3.ProxyProtocolConfig', [
  'version',
  'pass_through_tlvs',
  'added_tlvs',
]);
const TLV = supportedFields<TlvEntry>('envoy.config.core.v3.TlvEntry', ['type', 'value']);

export function compileProxyProtocol(
  config: ProxyProtocolConfig,
  place: Place,
): ProxyProtocolSocket {
  refuseOtherFields(place, config, CONFIG);
  return {
    is_version_2: config.version === 'V2',
    ...passedTlvs(config.pass_through_tlvs),
    added_tlvs: (config.added_tlvs ?? []).map((tlv, index) =>
      compileTlv(tlv, place.field('added_tlvs').index(index)),
    ),
  };
}

function compileTlv(tlv: TlvEntry, place: Place): AddedTlv {
  refuseOtherFields(place, tlv, TLV);
  if (!tlv.value?.length && !tlv.format_string) {
    place.error("Invalid TLV configuration: one of 'value' or 'format_string' must be set.");
  }
  return { type: tlv.type, value: tlv.value };
}
