// envoy.filters.http.rbac
import type {
  envoy_extensions_filters_http_rbac_v3_RBAC as Message,
  envoy_extensions_filters_http_rbac_v3_RBACPerRoute as PerRoute,
} from '../../../build/messages.gen.js';
import { type CompileContext, defineHttpFilter } from '../../plan/extension.js';
import { compileRbac } from '../../plan/match/rbac.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { Rbac } from '../../plan/plan.gen.js';

const PACKAGE = 'envoy.extensions.filters.http.rbac.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.RBAC`, [
  'rules',
  'rules_stat_prefix',
  'shadow_rules',
  'shadow_rules_stat_prefix',
  'track_per_rule_stats',
  'matcher',
  'shadow_matcher',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.RBACPerRoute`, ['rbac']);

export const rbac = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.rbac',
  type: FIELDS.type,
  compile: (config, place, context) => ({ rbac: compile(config, place, context) }),
  byRoute: {
    type: PER_ROUTE.type,
    compile(config, place, context) {
      refuseOtherFields(place, config, PER_ROUTE);
      return { rbac: compile(config.rbac ?? {}, place.field('rbac'), context) };
    },
  },
});

function compile(config: Message, place: Place, { runtime }: CompileContext): Rbac {
  refuseOtherFields(place, config, FIELDS);
  return {
    ...compileRbac(config, place, runtime),
    stat_prefix: config.rules_stat_prefix,
    shadow_stat_prefix: config.shadow_rules_stat_prefix,
    counts_policies: config.track_per_rule_stats,
  };
}
