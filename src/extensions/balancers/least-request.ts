// envoy.load_balancing_policies.least_request
import type { envoy_extensions_load_balancing_policies_least_request_v3_LeastRequest as LeastRequest } from '../../../build/messages.gen.js';
import { compileLeastRequest, LEAST_REQUEST } from '../../plan/cluster/least-request.js';
import { compileLocalities } from '../../plan/cluster/zones.js';
import { defineExtension } from '../../plan/extension.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';

export const leastRequest = defineExtension<LeastRequest, BalancerPlan>({
  name: 'envoy.load_balancing_policies.least_request',
  type: LEAST_REQUEST.type,
  compile: (config, place, context) => ({
    ...compileLeastRequest(config, place, context),
    ...compileLocalities(config.locality_lb_config, place.field('locality_lb_config'), context),
  }),
});
