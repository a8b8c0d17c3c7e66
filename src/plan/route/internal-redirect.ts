// Redirects of hosts that the proxy follows itself.
import type {
  envoy_config_core_v3_TypedExtensionConfig as TypedExtension,
  envoy_config_route_v3_InternalRedirectPolicy as Policy,
  envoy_config_route_v3_RouteAction as RouteAction,
  envoy_extensions_internal_redirect_allow_listed_routes_v3_AllowListedRoutesConfig as AllowedRoutes,
  envoy_extensions_internal_redirect_filter_state_v3_FilterStateConfig as FilterState,
} from '../../../build/messages.gen.js';
import { unregistered } from '../known-extensions.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import {
  RedirectPredicate_Kind as Kind,
  type InternalRedirect,
  type RedirectPredicate,
} from '../plan.gen.js';

const POLICY = supportedFields<Policy>('envoy.config.route.v3.InternalRedirectPolicy', [
  'max_internal_redirects',
  'redirect_response_codes',
  'predicates',
  'allow_cross_scheme_redirect',
  'response_headers_to_copy',
]);
const PACKAGE = 'envoy.extensions.internal_redirect';
const FOUND = 302;
/** All others that a policy names are left out, as in the real server. */
const STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function compileInternalRedirect(
  action: RouteAction,
  place: Place,
): InternalRedirect | undefined {
  const policy = action.internal_redirect_policy;
  if (policy) return compilePolicy(policy, place.field('internal_redirect_policy'));
  // The older way to say it.
  if (action.internal_redirect_action !== 'HANDLE_INTERNAL_REDIRECT') return undefined;
  return { max_redirects: action.max_internal_redirects ?? 1, statuses: [FOUND] };
}

function compilePolicy(message: Policy, place: Place): InternalRedirect {
  refuseOtherFields(place, message, POLICY);
  const named = message.redirect_response_codes ?? [];
  const copied = place.field('response_headers_to_copy');
  return {
    max_redirects: message.max_internal_redirects ?? 1,
    statuses: named.length === 0 ? [FOUND] : named.filter((status) => STATUSES.has(status)),
    allows_cross_scheme: message.allow_cross_scheme_redirect,
    copied_headers: (message.response_headers_to_copy ?? []).map((header, index) => {
      const name = header.toLowerCase();
      if (name.startsWith(':') || name === 'host') {
        copied.index(index).error(':-prefixed headers or Hosts may not be specified here.');
      }
      return name;
    }),
    predicates: (message.predicates ?? []).flatMap(
      (one, index) => compilePredicate(one, place.field('predicates').index(index)) ?? [],
    ),
  };
}

function compilePredicate(
  { name = '', typed_config: config }: TypedExtension,
  place: Place,
): RedirectPredicate | undefined {
  switch (config?.$type) {
    case `${PACKAGE}.previous_routes.v3.PreviousRoutesConfig`:
      return { kind: Kind.PREVIOUS_ROUTES };
    case `${PACKAGE}.allow_listed_routes.v3.AllowListedRoutesConfig`:
      return {
        kind: Kind.ALLOWED_ROUTES,
        routes: (config as AllowedRoutes).allowed_route_names,
      };
    case `${PACKAGE}.safe_cross_scheme.v3.SafeCrossSchemeConfig`:
      return { kind: Kind.SAFE_CROSS_SCHEME };
    case `${PACKAGE}.filter_state.v3.FilterStateConfig`: {
      const { redirect_enabled_key: key, redirect_if_absent } = config as FilterState;
      return { kind: Kind.FILTER_STATE, key, if_absent: redirect_if_absent };
    }
    default:
      place.field('typed_config').error(unregistered(name, config?.$type ?? ''), {
        expected: `a predicate of ${PACKAGE}`,
      });
      return undefined;
  }
}
