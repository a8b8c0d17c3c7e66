// envoy.filters.http.cors
import type {
  envoy_extensions_filters_http_cors_v3_Cors as Cors,
  envoy_extensions_filters_http_cors_v3_CorsPolicy as CorsPolicy,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import { CORS_FILTER, CORS_POLICY, compileCorsPolicy } from '../../plan/route/cors-policy.js';

export const cors = defineHttpFilter<Cors, CorsPolicy>({
  name: 'envoy.filters.http.cors',
  type: CORS_FILTER,
  compile: () => ({ cors: {} }),
  byRoute: {
    type: CORS_POLICY,
    compile: (policy, place, context) => ({ cors: compileCorsPolicy(policy, place, context) }),
  },
});
