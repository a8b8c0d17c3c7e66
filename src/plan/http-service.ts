// An HTTP service that the control plane posts to (envoy.config.core.v3.HttpService).
import type {
  envoy_config_core_v3_HeaderValueOption as HeaderValueOption,
  envoy_config_core_v3_HttpService as HttpService,
  envoy_config_core_v3_HttpUri as HttpUri,
} from '../../build/messages.gen.js';
import { octetsOf } from '../base/octets.js';
import { compileFormat } from './format/format.js';
import { textWithoutRequest } from './format/without-request.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';

const SERVICE = supportedFields<HttpService>('envoy.config.core.v3.HttpService', [
  'http_uri',
  'request_headers_to_add',
]);
const URI = supportedFields<HttpUri>('envoy.config.core.v3.HttpUri', ['uri', 'cluster', 'timeout']);
// As the real server: the last of a name is sent, whatever is said of those before it, and what is
// empty is kept.
const OPTION = supportedFields<HeaderValueOption>('envoy.config.core.v3.HeaderValueOption', [
  'header',
  'append',
  'append_action',
  'keep_empty_value',
]);

export interface HttpServicePlan {
  readonly cluster: string;
  /** What hosts are asked for. */
  readonly host: string;
  readonly path: string;
  /** 0: no limit. */
  readonly timeoutMs: number;
  /** Names in lower case, each once; each character of a value is one byte. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export function compileHttpService(message: HttpService, place: Place): HttpServicePlan {
  refuseOtherFields(place, message, SERVICE);
  const uri = message.http_uri ?? {};
  refuseOtherFields(place.field('http_uri'), uri, URI);
  const { cluster = '', timeout = 0 } = uri;
  const { host, path } = splitUri(uri.uri ?? '');
  return {
    cluster,
    host: host || cluster,
    path,
    timeoutMs: Math.floor(timeout),
    headers: compileHeaders(
      message.request_headers_to_add ?? [],
      place.field('request_headers_to_add'),
    ),
  };
}

/** Without a scheme all of it is a path. */
function splitUri(uri: string): { readonly host: string; readonly path: string } {
  const scheme = uri.indexOf('://');
  if (scheme < 0) return { host: '', path: uri };
  const begin = scheme + 3;
  const slash = uri.indexOf('/', begin);
  return slash < 0
    ? { host: uri.slice(begin), path: '/' }
    : { host: uri.slice(begin, slash), path: uri.slice(slash) };
}

/** Formats go before `raw_value`, which counts where there is none, and is sent as it is. */
function compileHeaders(
  options: readonly HeaderValueOption[],
  place: Place,
): (readonly [string, string])[] {
  const raw = new Map<string, string>();
  const formatted = new Map<string, string>();
  options.forEach((option, index) => {
    const at = place.index(index);
    refuseOtherFields(at, option, OPTION);
    const { key = '', value = '', raw_value } = option.header ?? {};
    if (value === '') {
      raw.set(key.toLowerCase(), Buffer.from(raw_value ?? []).toString('latin1'));
      return;
    }
    const compiled = compileFormat(value, 'header');
    const result = 'error' in compiled ? compiled : textWithoutRequest(compiled.format);
    if ('error' in result) at.field('header').field('value').error(result.error, result);
    else formatted.set(key.toLowerCase(), octetsOf(result.text));
  });
  return [...new Map([...raw, ...formatted])];
}
