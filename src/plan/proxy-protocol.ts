// The header of the PROXY protocol that tells hosts whom connections are for.
import type {
  envoy_config_core_v3_ProxyProtocolConfig as ProxyProtocolConfig,
  envoy_config_core_v3_SubstitutionFormatString as FormatString,
  envoy_config_core_v3_TlvEntry as TlvEntry,
} from '../../build/messages.gen.js';
import type { CompileContext } from './extension.js';
import { compileFormat } from './format/format.js';
import { compileReadFormat, readFormatString } from './format-string/format-string.js';
import type { Place } from './message/place.js';
import { nameOr } from './message/open-enum.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import { passedTlvs } from './passed-tlvs.js';
import type { AddedTlv, Format, ProxyProtocolSocket } from './plan.gen.js';

const CONFIG = supportedFields<ProxyProtocolConfig>('envoy.config.core.v3.ProxyProtocolConfig', [
  'version',
  'pass_through_tlvs',
  'added_tlvs',
]);
const TLV = supportedFields<TlvEntry>('envoy.config.core.v3.TlvEntry', [
  'type',
  'value',
  'format_string',
]);

/** `context`: absent where no text of its may change later. */
export function compileProxyProtocol(
  config: ProxyProtocolConfig,
  place: Place,
  context: CompileContext | undefined,
): ProxyProtocolSocket {
  refuseOtherFields(place, config, CONFIG);
  return {
    is_version_2: nameOr(config.version ?? 'V1', 'V2') === 'V2',
    ...passedTlvs(config.pass_through_tlvs),
    added_tlvs: compileTlvs(config.added_tlvs, place.field('added_tlvs'), context),
  };
}

export function compileTlvs(
  tlvs: readonly TlvEntry[] | undefined,
  place: Place,
  context: CompileContext | undefined,
): AddedTlv[] {
  return (tlvs ?? []).map((tlv, index) => compileTlv(tlv, place.index(index), context));
}

function compileTlv(tlv: TlvEntry, place: Place, context: CompileContext | undefined): AddedTlv {
  refuseOtherFields(place, tlv, TLV);
  if (!tlv.value?.length && !tlv.format_string) {
    place.error("Invalid TLV configuration: one of 'value' or 'format_string' must be set.");
  }
  if (tlv.value?.length && tlv.format_string) {
    place.error("Invalid TLV configuration: only one of 'value' or 'format_string' may be set.");
  }
  if (!tlv.format_string) return { type: tlv.type, value: tlv.value };
  const format = compileTlvFormat(tlv.format_string, place.field('format_string'), context);
  return { type: tlv.type, ...(format && { format }) };
}

/** Undefined after an error. */
function compileTlvFormat(
  message: FormatString,
  place: Place,
  context: CompileContext | undefined,
): Format | undefined {
  const read = readFormatString(message, place, context);
  if (!read) return undefined;
  if (typeof read.format !== 'string') return compileReadFormat(read, 'tcp_log');
  const result = compileFormat(read.format, 'tcp_log', read.own);
  if ('format' in result) return { ...result.format, omit_empty: message.omit_empty_values };
  place.error(`Failed to parse TLV format string: INVALID_ARGUMENT: ${result.error}`, {
    suggestion: result.suggestion,
  });
  return undefined;
}
