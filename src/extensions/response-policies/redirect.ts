// envoy.extensions.http.custom_response.redirect_policy: what another request is answered, made in
// the place of the one whose answer it is.
import type {
  envoy_config_route_v3_RedirectAction as RedirectAction,
  envoy_extensions_http_custom_response_redirect_policy_v3_RedirectPolicy as Message,
} from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { ResponsePolicy, ResponseRedirect } from '../../plan/plan.gen.js';
import { compileAddition } from '../../plan/route/header-mutations.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy',
  ['uri', 'redirect_action', 'status_code', 'response_headers_to_add', 'request_headers_to_add'],
);
/** Its status asks for nothing: nobody is told to go elsewhere. */
const REDIRECT = supportedFields<RedirectAction>('envoy.config.route.v3.RedirectAction', [
  'https_redirect',
  'scheme_redirect',
  'host_redirect',
  'port_redirect',
  'path_redirect',
  'prefix_rewrite',
  'regex_rewrite',
  'response_code',
  'strip_query',
]);
const URI = /^(https?):\/\/([^/?#@]+)([^#]*)/i;

export const redirectPolicy = defineExtension<Message, ResponsePolicy | undefined>({
  name: 'envoy.extensions.http.custom_response.redirect_policy',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const to =
      config.uri === undefined
        ? compileAction(config.redirect_action ?? {}, place.field('redirect_action'))
        : compileUri(config.uri, place.field('uri'));
    const additions = (name: 'response_headers_to_add' | 'request_headers_to_add') =>
      (config[name] ?? []).flatMap(
        (option, index) => compileAddition(option, place.field(name).index(index)) ?? [],
      );
    return (
      to && {
        status: config.status_code,
        response_add: additions('response_headers_to_add'),
        redirect: { ...to, request_add: additions('request_headers_to_add') },
      }
    );
  },
});

function compileUri(uri: string, place: Place): ResponseRedirect | undefined {
  const [, scheme, host, path = ''] = URI.exec(uri) ?? [];
  if (scheme === undefined) {
    place.error(`Invalid uri specified for redirection for custom response: ${uri}`);
    return undefined;
  }
  const slash = path.startsWith('/') ? '' : '/';
  return { scheme: scheme.toLowerCase(), host, path: `${slash}${path}`, strip_query: true };
}

function compileAction(
  action: Partial<RedirectAction>,
  place: Place,
): ResponseRedirect | undefined {
  refuseOtherFields(place, action, REDIRECT);
  for (const name of ['prefix_rewrite', 'regex_rewrite'] as const) {
    if (action[name]) place.field(name).error(`${name} is not supported for Custom Response`);
  }
  const { host_redirect: host, path_redirect: path } = action;
  if (path?.includes('#')) {
    place
      .field('path_redirect')
      .error(`#fragment is not supported for custom response. Specified path_redirect is ${path}`);
  }
  return {
    https: action.https_redirect,
    scheme: action.scheme_redirect,
    host,
    port: action.port_redirect,
    path,
    strip_query: action.strip_query,
  };
}
