// envoy.extensions.upstreams.http.v3.HttpProtocolOptions
import type {
  envoy_extensions_upstreams_http_v3_HttpProtocolOptions as HttpProtocolOptions,
  envoy_extensions_upstreams_http_v3_HttpProtocolOptions_ExplicitHttpConfig as ExplicitHttpConfig,
} from '../../../build/messages.gen.js';
import type { UpstreamHttpOptions } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { defineExtension } from '../../plan/extension.js';

const TYPE = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const FIELDS = supportedFields<HttpProtocolOptions>(TYPE, [
  'common_http_protocol_options',
  'upstream_http_protocol_options',
  'explicit_http_config',
]);
const EXPLICIT = supportedFields<ExplicitHttpConfig>(`${TYPE}.ExplicitHttpConfig`, [
  'http_protocol_options',
  'http2_protocol_options',
]);

export const httpProtocolOptions = defineExtension<HttpProtocolOptions, UpstreamHttpOptions>({
  name: TYPE,
  type: TYPE,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    const explicit = config.explicit_http_config ?? {};
    const explicitPlace = place.field('explicit_http_config');
    refuseOtherFields(explicitPlace, explicit, EXPLICIT);
    return {
      common: config.common_http_protocol_options,
      commonPlace: place.field('common_http_protocol_options'),
      http1: explicit.http_protocol_options,
      http1Place: explicitPlace.field('http_protocol_options'),
      http2: explicit.http2_protocol_options,
      http2Place: explicitPlace.field('http2_protocol_options'),
      sni: config.upstream_http_protocol_options,
      sniPlace: place.field('upstream_http_protocol_options'),
    };
  },
});
