// Which type-length-values of the PROXY protocol are passed on.
import type { envoy_config_core_v3_ProxyProtocolPassThroughTLVs as PassThroughTlvs } from '../../build/messages.gen.js';

export interface PassedTlvs {
  readonly passes_all_tlvs: boolean;
  readonly passed_tlv_types: Uint8Array;
}

/** Absent: none is. */
export function passedTlvs(message: PassThroughTlvs | undefined): PassedTlvs {
  return {
    passes_all_tlvs:
      message !== undefined && (message.match_type ?? 'INCLUDE_ALL') === 'INCLUDE_ALL',
    passed_tlv_types: Uint8Array.from(message?.tlv_type ?? []),
  };
}
