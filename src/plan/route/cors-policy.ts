// Cross-origin policies, as the filter's settings by route and as the older fields of routes and
// virtual hosts have them.
import type {
  envoy_config_route_v3_CorsPolicy as OlderPolicy,
  envoy_extensions_filters_http_cors_v3_CorsPolicy as Policy,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { compileStringMatcher } from '../match/matchers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { CorsPolicy } from '../plan.gen.js';
import { compileShare } from '../runtime/shares.js';

const POLICY = supportedFields<Policy>('envoy.extensions.filters.http.cors.v3.CorsPolicy', [
  'allow_origin_string_match',
  'allow_methods',
  'allow_headers',
  'expose_headers',
  'max_age',
  'allow_credentials',
  'filter_enabled',
  'shadow_enabled',
  'allow_private_network_access',
  'forward_not_matching_preflights',
]);

/** The filter whose settings these are. */
export const CORS_FILTER = 'envoy.extensions.filters.http.cors.v3.Cors';
export const CORS_POLICY = POLICY.type;

export function compileCorsPolicy(
  message: Policy | OlderPolicy,
  place: Place,
  context: CompileContext,
): CorsPolicy {
  refuseOtherFields(place, message, POLICY);
  return {
    allow_origins: (message.allow_origin_string_match ?? []).flatMap(
      (origin, index) =>
        compileStringMatcher(origin, place.field('allow_origin_string_match').index(index)) ?? [],
    ),
    allow_methods: message.allow_methods,
    allow_headers: message.allow_headers,
    expose_headers: message.expose_headers,
    max_age: message.max_age,
    allow_credentials: message.allow_credentials,
    allow_private_network_access: message.allow_private_network_access,
    forward_not_matching_preflights: message.forward_not_matching_preflights,
    enabled: compileShare(message.filter_enabled, context),
    shadow: compileShare(message.shadow_enabled, context),
  };
}
