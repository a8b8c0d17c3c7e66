// envoy.filters.http.local_ratelimit: a chain and its routes configure it by the same message.
import type {
  envoy_config_core_v3_HeaderValueOption as HeaderValueOption,
  envoy_extensions_common_ratelimit_v3_LocalRateLimitDescriptor as Descriptor,
  envoy_extensions_filters_http_local_ratelimit_v3_LocalRateLimit as Message,
} from '../../../build/messages.gen.js';
import { type CompileContext, defineHttpFilter } from '../../plan/extension.js';
import { errorStatus } from '../../plan/message/error-status.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  LocalRatelimit_VirtualHostLimits,
  type HeaderAddition,
  type LocalDescriptor,
  type LocalRatelimit,
} from '../../plan/plan.gen.js';
import { compileAddition } from '../../plan/route/header-mutations.js';
import { compileRateLimits, LOCAL_RATELIMIT } from '../../plan/route/rate-limits.js';
import { compileShare } from '../../plan/runtime/shares.js';
import { compileTokenBucket } from '../../plan/token-bucket.js';

const FIELDS = supportedFields<Message>(LOCAL_RATELIMIT, [
  'stat_prefix',
  'status',
  'token_bucket',
  'filter_enabled',
  'filter_enforced',
  'response_headers_to_add',
  'descriptors',
  'stage',
  'request_headers_to_add_when_not_enforced',
  'local_rate_limit_per_downstream_connection',
  'enable_x_ratelimit_headers',
  'vh_rate_limits',
  'always_consume_default_token_bucket',
  'rate_limited_as_resource_exhausted',
  'rate_limits',
  'enable_retry_after_header',
  'max_dynamic_descriptors',
  'local_cluster_rate_limit',
]);
const DESCRIPTOR = supportedFields<Descriptor>(
  'envoy.extensions.common.ratelimit.v3.LocalRateLimitDescriptor',
  ['entries', 'token_bucket', 'shadow_mode'],
);

const TOO_MANY_REQUESTS = 429;
const MOST_KEPT_BUCKETS = 20;

export const localRatelimit = defineHttpFilter<Message, Message>({
  name: 'envoy.filters.http.local_ratelimit',
  type: FIELDS.type,
  compile: (config, place, context) => ({ local_ratelimit: compile(config, place, context) }),
  byRoute: {
    type: FIELDS.type,
    compile(config, place, context) {
      if (!config.token_bucket) {
        place.error('local rate limit token bucket must be set for per filter configs', {
          expected: 'token_bucket: {max_tokens: …, fill_interval: …}',
        });
        return undefined;
      }
      return { local_ratelimit: compile(config, place, context) };
    },
  },
});

function compile(config: Message, place: Place, context: CompileContext): LocalRatelimit {
  refuseOtherFields(place, config, FIELDS);
  const limits = compileRateLimits(config.rate_limits, place.field('rate_limits'), context, {
    of: 'local',
  });
  return {
    stat_prefix: config.stat_prefix,
    status: errorStatus(config.status?.code, TOO_MANY_REQUESTS),
    bucket:
      config.token_bucket && compileTokenBucket(config.token_bucket, place.field('token_bucket')),
    enabled: compileShare(config.filter_enabled, context),
    enforced: compileShare(config.filter_enforced, context),
    response_add: additions(config.response_headers_to_add, place.field('response_headers_to_add')),
    request_add: additions(
      config.request_headers_to_add_when_not_enforced,
      place.field('request_headers_to_add_when_not_enforced'),
    ),
    descriptors: compileDescriptors(config.descriptors ?? [], place.field('descriptors')),
    stage: config.stage,
    per_connection: config.local_rate_limit_per_downstream_connection,
    tells_limit: config.enable_x_ratelimit_headers === 'DRAFT_VERSION_03',
    tells_retry_after: config.enable_retry_after_header,
    virtual_host_limits: LocalRatelimit_VirtualHostLimits[config.vh_rate_limits ?? 'OVERRIDE'],
    always_asks_bucket: config.always_consume_default_token_bucket ?? true,
    as_resource_exhausted: config.rate_limited_as_resource_exhausted,
    own_limits: limits.length > 0 ? { limits } : undefined,
    shared_by: config.local_cluster_rate_limit
      ? localCluster(config, place.field('local_cluster_rate_limit'), context)
      : undefined,
    most_kept_buckets: config.max_dynamic_descriptors ?? MOST_KEPT_BUCKETS,
  };
}

/** Undefined after an error. */
function localCluster(config: Message, place: Place, context: CompileContext): string | undefined {
  const what = 'local_cluster_rate_limit is set';
  if (config.local_rate_limit_per_downstream_connection) {
    place.error(`${what} and local_rate_limit_per_downstream_connection is set to true`);
  }
  if (!context.localCluster) {
    place.error(`${what} but no local cluster name is present`, {
      expected: 'cluster_manager: {local_cluster_name: …}',
    });
  }
  return context.localCluster?.name;
}

function additions(
  options: readonly HeaderValueOption[] | undefined,
  place: Place,
): HeaderAddition[] {
  return (options ?? []).flatMap(
    (option, index) => compileAddition(option, place.index(index)) ?? [],
  );
}

function compileDescriptors(descriptors: readonly Descriptor[], place: Place): LocalDescriptor[] {
  const known = new Set<string>();
  return descriptors.map((descriptor, index) => {
    const at = place.index(index);
    refuseOtherFields(at, descriptor, DESCRIPTOR);
    const entries = (descriptor.entries ?? []).map(({ key = '', value = '' }) => ({ key, value }));
    const text = entries.map(({ key, value }) => `${key}=${value}`).join(', ');
    if (known.has(text)) {
      at.error(`duplicate descriptor in the local rate descriptor: ${text}`);
    }
    known.add(text);
    return {
      entries,
      bucket: compileTokenBucket(descriptor.token_bucket ?? {}, at.field('token_bucket')),
      shadow_mode: descriptor.shadow_mode,
    };
  });
}
