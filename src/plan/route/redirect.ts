// Redirects: the parts of the answer's location that differ from the request.
import type { envoy_config_route_v3_RedirectAction as RedirectAction } from '../../../build/messages.gen.js';
import { compileTextFormat } from '../format/text-format.js';
import { compileRegexRewrite } from '../match/matchers.js';
import type { Place } from '../message/place.js';
import { PathRewrite_Kind, type PathRewrite, type Redirect } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const REDIRECT = supportedFields<RedirectAction>('envoy.config.route.v3.RedirectAction', [
  'https_redirect',
  'scheme_redirect',
  'host_redirect',
  'port_redirect',
  'path_redirect',
  'prefix_rewrite',
  'regex_rewrite',
  'path_rewrite',
  'response_code',
  'strip_query',
]);

const STATUS = {
  MOVED_PERMANENTLY: 301,
  FOUND: 302,
  SEE_OTHER: 303,
  TEMPORARY_REDIRECT: 307,
  PERMANENT_REDIRECT: 308,
} as const;

export function compileRedirect(message: RedirectAction, place: Place): Redirect {
  refuseOtherFields(place, message, REDIRECT);
  return {
    https: message.https_redirect,
    scheme: message.scheme_redirect,
    host: message.host_redirect,
    port: message.port_redirect,
    path: message.path_redirect,
    path_rewrite: compilePathRewrite(message, place),
    status: STATUS[message.response_code ?? 'MOVED_PERMANENTLY'],
    strip_query: message.strip_query,
  };
}

/** The ways to rewrite a path that redirects and forwarding routes share. */
export function compilePathRewrite(
  message: Pick<RedirectAction, 'prefix_rewrite' | 'regex_rewrite' | 'path_rewrite'>,
  place: Place,
): PathRewrite | undefined {
  if (message.regex_rewrite) {
    const regex = compileRegexRewrite(message.regex_rewrite, place.field('regex_rewrite'));
    return regex && { kind: PathRewrite_Kind.REGEX, regex };
  }
  if (message.path_rewrite) {
    const format = compileTextFormat(message.path_rewrite, place.field('path_rewrite'));
    return format && { kind: PathRewrite_Kind.FORMAT, format };
  }
  if (!message.prefix_rewrite) return undefined;
  return { kind: PathRewrite_Kind.PREFIX, value: message.prefix_rewrite };
}
