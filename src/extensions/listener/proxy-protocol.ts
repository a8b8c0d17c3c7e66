// envoy.filters.listener.proxy_protocol: the client's addresses by the header of a proxy before us.
import type {
  envoy_extensions_filters_listener_proxy_protocol_v3_ProxyProtocol as ProxyProtocolMessage,
  envoy_extensions_filters_listener_proxy_protocol_v3_ProxyProtocol_Rule as RuleMessage,
} from '../../../build/messages.gen.js';
import type { ListenerFilterPlan } from '../../plan/extension-plans.js';
import { defineExtension } from '../../plan/extension.js';
import { passedTlvs } from '../../plan/passed-tlvs.js';
import type { TlvRule } from '../../plan/plan.gen.js';

/** A rule that does not say where its value goes keeps nothing. */
function compileRules(rules: readonly RuleMessage[] | undefined): TlvRule[] {
  return (rules ?? []).flatMap(({ tlv_type, on_tlv_present: target }) =>
    target === undefined
      ? []
      : [
          {
            type: tlv_type,
            metadata_namespace: target.metadata_namespace,
            key: target.key,
            base64: target.value_string_encoding === 'BASE64',
          },
        ],
  );
}

export const proxyProtocol = defineExtension<ProxyProtocolMessage, ListenerFilterPlan>({
  name: 'envoy.filters.listener.proxy_protocol',
  type: 'envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol',
  compile: (config, place) => {
    const disallowed = new Set(config.disallowed_versions);
    if (disallowed.has('V1') && disallowed.has('V2')) {
      place
        .field('disallowed_versions')
        .error(
          'Proxy Protocol filter is misconfigured: all proxy protocol versions are disallowed.',
          { expected: 'V1 or V2, or none' },
        );
    }
    return {
      proxy_protocol: {
        stat_prefix: config.stat_prefix,
        allow_without: config.allow_requests_without_proxy_protocol,
        disallow_v1: disallowed.has('V1'),
        disallow_v2: disallowed.has('V2'),
        rules: compileRules(config.rules),
        to_filter_state: config.tlv_location === 'FILTER_STATE',
        ...passedTlvs(config.pass_through_tlvs),
      },
    };
  },
});
