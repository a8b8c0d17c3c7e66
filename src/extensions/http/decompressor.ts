// envoy.filters.http.decompressor
import type {
  envoy_extensions_filters_http_decompressor_v3_Decompressor as Message,
  envoy_extensions_filters_http_decompressor_v3_Decompressor_CommonDirectionConfig as Common,
  envoy_extensions_filters_http_decompressor_v3_Decompressor_RequestDirectionConfig as RequestConfig,
  envoy_extensions_filters_http_decompressor_v3_Decompressor_ResponseDirectionConfig as ResponseConfig,
} from '../../../build/messages.gen.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import { type CompileContext, defineExtension, findExtension } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { DecompressorDirection } from '../../plan/plan.gen.js';
import { compileFlag } from '../../plan/runtime/shares.js';

const TYPE = 'envoy.extensions.filters.http.decompressor.v3.Decompressor';
const FIELDS = supportedFields<Message>(TYPE, [
  'decompressor_library',
  'request_direction_config',
  'response_direction_config',
]);
const COMMON = supportedFields<Common>(`${TYPE}.CommonDirectionConfig`, [
  'enabled',
  'ignore_no_transform_header',
]);
const REQUEST = supportedFields<RequestConfig>(`${TYPE}.RequestDirectionConfig`, [
  'common_config',
  'advertise_accept_encoding',
]);
const RESPONSE = supportedFields<ResponseConfig>(`${TYPE}.ResponseDirectionConfig`, [
  'common_config',
]);

export const decompressor = defineExtension<Message, HttpFilterPlan>({
  name: 'envoy.filters.http.decompressor',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const { request_direction_config: request = {}, response_direction_config: response = {} } =
      config;
    refuseOtherFields(place.field('request_direction_config'), request, REQUEST);
    refuseOtherFields(place.field('response_direction_config'), response, RESPONSE);
    const library = config.decompressor_library ?? {};
    const at = place.field('decompressor_library');
    const extension = findExtension(context, 'decoders', library, at);
    const direction = (name: 'request_direction_config' | 'response_direction_config') =>
      compileDirection(
        config[name]?.common_config,
        place.field(name).field('common_config'),
        context,
      );
    return {
      decompressor: {
        decoder:
          library.typed_config &&
          extension?.compile(library.typed_config, at.field('typed_config'), context),
        library: library.name,
        request: direction('request_direction_config'),
        response: direction('response_direction_config'),
        advertises: request.advertise_accept_encoding ?? true,
      },
    };
  },
});

function compileDirection(
  common: Common = {},
  place: Place,
  context: CompileContext,
): DecompressorDirection {
  refuseOtherFields(place, common, COMMON);
  return {
    enabled: compileFlag(common.enabled, context),
    ignores_no_transform: common.ignore_no_transform_header,
  };
}
