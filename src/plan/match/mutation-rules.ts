// envoy.config.common.mutation_rules.v3.HeaderMutationRules: what a service may change of requests.
import type { envoy_config_common_mutation_rules_v3_HeaderMutationRules as Message } from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { MutationRules } from '../plan.gen.js';
import { compileRegexMatcher } from './matchers.js';

const RULES = supportedFields<Message>(
  'envoy.config.common.mutation_rules.v3.HeaderMutationRules',
  [
    'allow_all_routing',
    'allow_envoy',
    'disallow_system',
    'disallow_all',
    'allow_expression',
    'disallow_expression',
    'disallow_is_error',
  ],
);

/** Undefined: there are none. */
export function compileMutationRules(
  message: Message | undefined,
  place: Place,
): MutationRules | undefined {
  if (!message) return undefined;
  refuseOtherFields(place, message, RULES);
  const { allow_expression: allow, disallow_expression: disallow } = message;
  return {
    allow_all_routing: message.allow_all_routing,
    allow_envoy: message.allow_envoy,
    disallow_system: message.disallow_system,
    disallow_all: message.disallow_all,
    disallow_is_error: message.disallow_is_error,
    allow: allow && compileRegexMatcher(allow, place.field('allow_expression')),
    disallow: disallow && compileRegexMatcher(disallow, place.field('disallow_expression')),
  };
}
