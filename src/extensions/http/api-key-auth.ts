// envoy.filters.http.api_key_auth
import type {
  envoy_extensions_filters_http_api_key_auth_v3_ApiKeyAuth as Message,
  envoy_extensions_filters_http_api_key_auth_v3_ApiKeyAuthPerRoute as PerRoute,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { ApiKey, ApiKeyAuth, ApiKeySource } from '../../plan/plan.gen.js';

const PACKAGE = 'envoy.extensions.filters.http.api_key_auth.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.ApiKeyAuth`, [
  'credentials',
  'key_sources',
  'forwarding',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.ApiKeyAuthPerRoute`, [
  'credentials',
  'key_sources',
  'forwarding',
  'allowed_clients',
]);

export const apiKeyAuth = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.api_key_auth',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { api_key_auth: compile(config, place) };
  },
  byRoute: {
    type: PER_ROUTE.type,
    compile(config, place) {
      refuseOtherFields(place, config, PER_ROUTE);
      const { allowed_clients: allowed = [] } = config;
      return { api_key_auth: { ...compile(config, place), allowed_clients: allowed } };
    },
  },
});

function compile(config: Message, place: Place): ApiKeyAuth {
  const { forwarding } = config;
  return {
    keys: compileKeys(config, place.field('credentials')),
    sources: compileSources(config, place.field('key_sources')),
    ...(forwarding && {
      forwarding: {
        header: forwarding.header?.toLowerCase(),
        hides_key: forwarding.hide_credentials,
      },
    }),
  };
}

/** The key is not repeated where it is wrong: it is a secret. */
function compileKeys({ credentials = [] }: Message, place: Place): ApiKey[] {
  const seen = new Set<string>();
  return credentials.map(({ key = '', client }, index) => {
    if (seen.has(key)) place.index(index).field('key').error('Duplicate API key.');
    seen.add(key);
    return { key, client };
  });
}

function compileSources({ key_sources: sources = [] }: Message, place: Place): ApiKeySource[] {
  return sources.map(({ header = '', query = '', cookie = '' }, index) => {
    if (header !== '') return { header: header.toLowerCase() };
    if (query !== '') return { query };
    if (cookie === '') place.index(index).error("One of 'header'/'query'/'cookie' must be set.");
    return { cookie };
  });
}
