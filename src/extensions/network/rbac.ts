// envoy.filters.network.rbac
import type {
  envoy_config_rbac_v3_RBAC as Rules,
  envoy_extensions_filters_network_rbac_v3_RBAC as Message,
} from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { CONNECTION_INPUTS } from '../../plan/match/http-tree.js';
import { compileRbac } from '../../plan/match/rbac.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Message>('envoy.extensions.filters.network.rbac.v3.RBAC', [
  'rules',
  'shadow_rules',
  'shadow_rules_stat_prefix',
  'stat_prefix',
  'enforcement_type',
  'delay_deny',
  'matcher',
  'shadow_matcher',
]);

export const networkRbac = defineExtension<Message, NetworkFilterPlan>({
  name: 'envoy.filters.network.rbac',
  type: FIELDS.type,
  compile(config, place, { runtime }) {
    refuseOtherFields(place, config, FIELDS);
    const { rules, shadow_rules: shadow } = config;
    if (rules) refuseHeaders(rules, place.field('rules'));
    if (shadow) refuseHeaders(shadow, place.field('shadow_rules'));
    return {
      guards: [
        {
          rbac: {
            ...compileRbac(config, place, runtime, CONNECTION_INPUTS),
            stat_prefix: config.stat_prefix,
            shadow_stat_prefix: config.shadow_rules_stat_prefix,
            is_continuous: config.enforcement_type === 'CONTINUOUS',
            delay_ms: wholeMs(config.delay_deny, 0),
          },
        },
      ],
    };
  },
});

/** Connections have none. */
function refuseHeaders(rules: Rules, place: Place): void {
  for (const [name, policy] of Object.entries(rules.policies ?? {})) {
    const at = place.field(`policies["${name}"]`);
    for (const part of ['permissions', 'principals'] as const) {
      (policy[part] ?? []).forEach((one, index) => {
        if (!hasHeader(one)) return;
        at.field(part)
          .index(index)
          .error('Found header rule, not supported by RBAC network filter', {
            expected: 'rules that speak of the connection',
          });
      });
    }
  }
}

/** Also where it is within others. */
function hasHeader(rule: object): boolean {
  return Object.entries(rule).some(([field, value]) => {
    if (field === 'header') return true;
    return [
      'and_rules',
      'or_rules',
      'not_rule',
      'and_ids',
      'or_ids',
      'not_id',
      'rules',
      'ids',
    ].includes(field)
      ? Array.isArray(value)
        ? value.some((one: object) => hasHeader(one))
        : hasHeader(value as object)
      : false;
  });
}
