// envoy.filters.http.router
import type { envoy_extensions_filters_http_router_v3_Router as Router } from '../../../build/messages.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';

const FIELDS = supportedFields<Router>('envoy.extensions.filters.http.router.v3.Router', [
  'dynamic_stats',
  'respect_expected_rq_timeout',
  'start_child_span',
  'suppress_envoy_headers',
  'strict_check_headers',
]);

export const router = defineExtension<Router, HttpFilterPlan>({
  name: 'envoy.filters.http.router',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return {
      router: {
        suppress_envoy_headers: config.suppress_envoy_headers,
        strict_check_headers: config.strict_check_headers?.map((name) => name.toLowerCase()),
        respect_expected_rq_timeout: config.respect_expected_rq_timeout,
        counts_no_answers: config.dynamic_stats === false,
        start_child_span: config.start_child_span,
      },
    };
  },
});
