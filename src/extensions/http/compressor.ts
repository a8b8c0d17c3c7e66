// envoy.filters.http.compressor
import type {
  envoy_extensions_filters_http_compressor_v3_Compressor as Message,
  envoy_extensions_filters_http_compressor_v3_CompressorOverrides as Overrides,
  envoy_extensions_filters_http_compressor_v3_CompressorPerRoute as PerRoute,
  envoy_extensions_filters_http_compressor_v3_Compressor_CommonDirectionConfig as Common,
  envoy_extensions_filters_http_compressor_v3_Compressor_RequestDirectionConfig as RequestConfig,
  envoy_extensions_filters_http_compressor_v3_Compressor_ResponseDirectionConfig as ResponseConfig,
  envoy_extensions_filters_http_compressor_v3_ResponseDirectionOverrides as ResponseOverrides,
} from '../../../build/messages.gen.js';
import {
  type CompileContext,
  defineHttpFilter,
  findExtension,
  type Named,
} from '../../plan/extension.js';
import { compileStringMatcher } from '../../plan/match/matchers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  StringMatch_Kind,
  type Compressor,
  type CompressorDirection,
  type CompressorSettings,
  type Encoder,
} from '../../plan/plan.gen.js';
import { compileFlag } from '../../plan/runtime/shares.js';

const PACKAGE = 'envoy.extensions.filters.http.compressor.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.Compressor`, [
  'content_length',
  'content_type',
  'disable_on_etag_header',
  'remove_accept_encoding_header',
  'runtime_enabled',
  'compressor_library',
  'request_direction_config',
  'response_direction_config',
  'choose_first',
]);
const COMMON = supportedFields<Common>(`${PACKAGE}.Compressor.CommonDirectionConfig`, [
  'enabled',
  'min_content_length',
  'content_type',
  'content_type_matcher',
]);
const REQUEST = supportedFields<RequestConfig>(`${PACKAGE}.Compressor.RequestDirectionConfig`, [
  'common_config',
]);
const RESPONSE = supportedFields<ResponseConfig>(`${PACKAGE}.Compressor.ResponseDirectionConfig`, [
  'common_config',
  'disable_on_etag_header',
  'remove_accept_encoding_header',
  'uncompressible_response_codes',
  'status_header_enabled',
  'weaken_etag_on_compress',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.CompressorPerRoute`, [
  'disabled',
  'overrides',
]);
const OVERRIDES = supportedFields<Overrides>(`${PACKAGE}.CompressorOverrides`, [
  'response_direction_config',
  'compressor_library',
]);
const RESPONSE_OVERRIDES = supportedFields<ResponseOverrides>(
  `${PACKAGE}.ResponseDirectionOverrides`,
  ['remove_accept_encoding_header'],
);

/** As they are read: what is absent may also be undefined. */
type Fields<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

const MIN_CONTENT_LENGTH = 30;
const CONTENT_TYPES = [
  'text/html',
  'text/plain',
  'text/css',
  'application/javascript',
  'application/x-javascript',
  'text/javascript',
  'text/x-javascript',
  'text/ecmascript',
  'text/js',
  'text/jscript',
  'text/x-js',
  'application/ecmascript',
  'application/x-json',
  'application/xml',
  'application/json',
  'image/svg+xml',
  'text/xml',
  'application/xhtml+xml',
  'application/grpc-web',
  'application/grpc-web+proto',
];

export const compressor = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.compressor',
  type: FIELDS.type,
  compile: (config, place, context) => ({ compressor: compile(config, place, context) }),
  byRoute: {
    type: PER_ROUTE.type,
    compile: (config, place, context) => ({ compressor: compilePerRoute(config, place, context) }),
  },
});

function compile(config: Message, place: Place, context: CompileContext): Compressor {
  refuseOtherFields(place, config, FIELDS);
  const { request_direction_config: request, response_direction_config: response } = config;
  if (request) refuseOtherFields(place.field('request_direction_config'), request, REQUEST);
  if (response) refuseOtherFields(place.field('response_direction_config'), response, RESPONSE);
  // Where it is there, the older fields are ignored.
  const common: Fields<Common> = response
    ? (response.common_config ?? {})
    : {
        enabled: config.runtime_enabled,
        min_content_length: config.content_length,
        content_type: config.content_type,
      };
  const own: ResponseConfig | Message = response ?? config;
  const at = (name: 'request_direction_config' | 'response_direction_config') =>
    place.field(name).field('common_config');
  const library = config.compressor_library ?? {};
  return {
    encoder: compileEncoder(library, place.field('compressor_library'), context),
    library: library.name,
    request:
      request && compileDirection(request.common_config, at('request_direction_config'), context),
    response: compileDirection(common, at('response_direction_config'), context),
    names_response: response !== undefined,
    disable_on_etag: own.disable_on_etag_header,
    weaken_etag: response?.weaken_etag_on_compress,
    remove_accept_encoding: own.remove_accept_encoding_header,
    uncompressible_statuses: response?.uncompressible_response_codes,
    tells_status: response?.status_header_enabled,
    choose_first: config.choose_first,
  };
}

function compileEncoder(
  library: Named,
  place: Place,
  context: CompileContext,
): Encoder | undefined {
  const extension = findExtension(context, 'encoders', library, place);
  if (!extension || !library.typed_config) return undefined;
  return extension.compile(library.typed_config, place.field('typed_config'), context);
}

function compileDirection(
  common: Fields<Common> = {},
  place: Place,
  context: CompileContext,
): CompressorDirection {
  refuseOtherFields(place, common, COMMON);
  const at = place.field('content_type_matcher');
  // Where there are any, they alone count.
  const matchers = (common.content_type_matcher ?? []).flatMap(
    (matcher, index) => compileStringMatcher(matcher, at.index(index)) ?? [],
  );
  const names = common.content_type?.length ? common.content_type : CONTENT_TYPES;
  return {
    enabled: compileFlag(common.enabled, context),
    min_content_length: common.min_content_length || MIN_CONTENT_LENGTH,
    content_types:
      matchers.length > 0
        ? matchers
        : names.map((name) => ({
            kind: StringMatch_Kind.EXACT,
            value: name.toLowerCase(),
            ignore_case: true,
          })),
  };
}

function compilePerRoute(
  config: PerRoute,
  place: Place,
  context: CompileContext,
): CompressorSettings {
  refuseOtherFields(place, config, PER_ROUTE);
  if (!config.overrides) return { response_enabled: false };
  const at = place.field('overrides');
  refuseOtherFields(at, config.overrides, OVERRIDES);
  const { response_direction_config: response, compressor_library: library } = config.overrides;
  if (response)
    refuseOtherFields(at.field('response_direction_config'), response, RESPONSE_OVERRIDES);
  return {
    // That it is there is enough.
    response_enabled: response ? true : undefined,
    remove_accept_encoding: response?.remove_accept_encoding_header,
    encoder: library && compileEncoder(library, at.field('compressor_library'), context),
  };
}
