// envoy.filters.network.ratelimit
import type {
  envoy_extensions_common_ratelimit_v3_RateLimitDescriptor as Descriptor,
  envoy_extensions_common_ratelimit_v3_RateLimitDescriptor_Entry as Entry,
  envoy_extensions_filters_network_ratelimit_v3_RateLimit as Message,
} from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { compileFormat } from '../../plan/format/format.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { Format, NetworkDescriptor } from '../../plan/plan.gen.js';
import { compileRateLimitService } from '../../plan/calls/rate-limit-service.js';

const FIELDS = supportedFields<Message>('envoy.extensions.filters.network.ratelimit.v3.RateLimit', [
  'stat_prefix',
  'domain',
  'descriptors',
  'timeout',
  'failure_mode_deny',
  'rate_limit_service',
]);
// As the real server, which tells its service of entries alone: what else there is has no effect.
const DESCRIPTOR = supportedFields<Descriptor>(
  'envoy.extensions.common.ratelimit.v3.RateLimitDescriptor',
  ['entries'],
);
const ENTRY = supportedFields<Entry>(
  'envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry',
  ['key', 'value'],
);

const ALL = 100;

export const networkRatelimit = defineExtension<Message, NetworkFilterPlan>({
  name: 'envoy.filters.network.ratelimit',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    return {
      guards: [
        {
          ratelimit: {
            stat_prefix: config.stat_prefix,
            service: compileRateLimitService(config, place, context),
            domain: config.domain,
            descriptors: (config.descriptors ?? []).map((one, index) =>
              compileDescriptor(one, place.field('descriptors').index(index)),
            ),
            failure_mode_deny: config.failure_mode_deny,
            enabled: context.runtime.liveNumber('ratelimit.tcp_filter_enabled', ALL),
            enforcing: context.runtime.liveNumber('ratelimit.tcp_filter_enforcing', ALL),
          },
        },
      ],
    };
  },
});

function compileDescriptor(descriptor: Descriptor, place: Place): NetworkDescriptor {
  refuseOtherFields(place, descriptor, DESCRIPTOR);
  return {
    entries: (descriptor.entries ?? []).map((entry, index) => {
      const at = place.field('entries').index(index);
      refuseOtherFields(at, entry, ENTRY);
      return { key: entry.key, value: compileValue(entry.value ?? '', at.field('value')) };
    }),
  };
}

function compileValue(text: string, place: Place): Format | undefined {
  const result = compileFormat(text, 'tcp_log');
  if ('format' in result) return result.format;
  place.error(result.error, { suggestion: result.suggestion });
  return undefined;
}
