// envoy.filters.network.ratelimit
import type {
  envoy_config_ratelimit_v3_RateLimitServiceConfig as ServiceConfig,
  envoy_extensions_common_ratelimit_v3_RateLimitDescriptor as Descriptor,
  envoy_extensions_common_ratelimit_v3_RateLimitDescriptor_Entry as Entry,
  envoy_extensions_filters_network_ratelimit_v3_RateLimit as Message,
} from '../../../build/messages.gen.js';
import { compileDataService } from '../../plan/calls/data-service.js';
import { type CompileContext, defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { compileFormat } from '../../plan/format/format.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { Format, NetworkDescriptor, Service } from '../../plan/plan.gen.js';

const FIELDS = supportedFields<Message>('envoy.extensions.filters.network.ratelimit.v3.RateLimit', [
  'stat_prefix',
  'domain',
  'descriptors',
  'timeout',
  'failure_mode_deny',
  'rate_limit_service',
]);
const SERVICE = supportedFields<ServiceConfig>('envoy.config.ratelimit.v3.RateLimitServiceConfig', [
  'grpc_service',
  'transport_api_version',
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

const DEFAULT_TIMEOUT_MS = 20;
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
            service: compileService(config, place, context),
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

/** The filter's own time limit counts, whatever the service's is. */
function compileService(
  { rate_limit_service: config, timeout }: Message,
  place: Place,
  context: CompileContext,
): Service | undefined {
  if (!config?.grpc_service) return undefined;
  const at = place.field('rate_limit_service');
  refuseOtherFields(at, config, SERVICE);
  if (config.transport_api_version === 'V2') {
    at.field('transport_api_version').error('V2 xDS transport protocol version is deprecated', {
      expected: 'V3',
    });
  }
  const service = compileDataService(
    config.grpc_service,
    at.field('grpc_service'),
    context,
    DEFAULT_TIMEOUT_MS,
  );
  return service && { ...service, timeout_ms: wholeMs(timeout, DEFAULT_TIMEOUT_MS) };
}

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
