// envoy.filters.http.cache: answers of hosts, kept for everybody. Routes only switch it on and off.
import type {
  envoy_extensions_filters_http_cache_v3_CacheConfig as Message,
  envoy_extensions_filters_http_cache_v3_CacheConfig_KeyCreatorParams as KeyParams,
} from '../../../build/messages.gen.js';
import { type CompileContext, defineExtension, findExtension } from '../../plan/extension.js';
import { compileStringMatcher } from '../../plan/match/matchers.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import type { Place } from '../../plan/message/place.js';
import {
  refuseOtherFields,
  supportedFields,
  tellHidden,
} from '../../plan/message/supported-fields.js';
import type { CacheFilter } from '../../plan/plan.gen.js';

const FIELDS = supportedFields<Message>('envoy.extensions.filters.http.cache.v3.CacheConfig', [
  'typed_config',
  'allowed_vary_headers',
  'disabled',
  'ignore_request_cache_control_header',
  'key_creator_params',
  'max_body_bytes',
]);
const KEY_PARAMS = supportedFields<KeyParams>(
  'envoy.extensions.filters.http.cache.v3.CacheConfig.KeyCreatorParams',
  ['exclude_scheme', 'exclude_host', 'query_parameters_included', 'query_parameters_excluded'],
);

export const cache = defineExtension<Message, HttpFilterPlan>({
  name: 'envoy.filters.http.cache',
  type: FIELDS.type,
  compile: (config, place, context) => ({ cache: compile(config, place, context) }),
});

function compile(config: Message, place: Place, context: CompileContext): CacheFilter {
  refuseOtherFields(place, config, FIELDS);
  if (config.key_creator_params) {
    refuseOtherFields(place.field('key_creator_params'), config.key_creator_params, KEY_PARAMS);
  }
  tellHidden(place, config, ['key_creator_params', 'max_body_bytes']);
  const at = place.field('allowed_vary_headers');
  const filter: CacheFilter = {
    allowed_vary_headers: (config.allowed_vary_headers ?? []).flatMap(
      (matcher, index) => compileStringMatcher(matcher, at.index(index)) ?? [],
    ),
    ignores_request_cache_control: config.ignore_request_cache_control_header,
    local_address: context.localAddress,
  };
  if (config.disabled) return filter;
  if (!config.typed_config) {
    place.error('at least one of typed_config or disabled must be set');
    return filter;
  }
  const store = findExtension(context, 'caches', { typed_config: config.typed_config }, place);
  return {
    ...filter,
    ...store?.compile(config.typed_config, place.field('typed_config'), context),
  };
}
