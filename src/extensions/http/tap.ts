// envoy.filters.http.tap
import type {
  envoy_extensions_common_tap_v3_CommonExtensionConfig as CommonConfig,
  envoy_extensions_filters_http_tap_v3_Tap as TapFilter,
} from '../../../build/messages.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { compileTap } from '../../plan/match/tap.js';
import { defineExtension } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';

const FIELDS = supportedFields<TapFilter>('envoy.extensions.filters.http.tap.v3.Tap', [
  'common_config',
  'record_headers_received_time',
]);
const COMMON = supportedFields<CommonConfig>(
  'envoy.extensions.common.tap.v3.CommonExtensionConfig',
  ['admin_config', 'static_config'],
);

export const tap = defineExtension<TapFilter, HttpFilterPlan>({
  name: 'envoy.filters.http.tap',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const common = config.common_config ?? {};
    const at = place.field('common_config');
    refuseOtherFields(at, common, COMMON);
    const recordsTime = { records_headers_received_time: config.record_headers_received_time };
    if (!common.static_config) {
      const id = context.addTap({ configId: common.admin_config?.config_id ?? '' });
      return { tap: { id, ...recordsTime } };
    }
    const plan = compileTap(common.static_config, at.field('static_config'), context.runtime);
    if (plan && plan.sink.kind !== 'file') {
      at.field('static_config')
        .field('output_config')
        .error(
          plan.sink.kind === 'stream'
            ? 'Error: Specifying admin streaming output without configuring admin.'
            : 'Output sink type BufferedAdmin requires that the admin output will be configured via admin',
          { expected: 'file_per_tap, or admin_config in place of static_config' },
        );
    }
    const id = context.addTap({ plan });
    return { tap: { id, tap: plan?.tap, ...recordsTime } };
  },
});
