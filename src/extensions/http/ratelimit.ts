// envoy.filters.http.ratelimit
import type {
  envoy_config_core_v3_RuntimeFractionalPercent as RuntimeFraction,
  envoy_extensions_filters_http_ratelimit_v3_RateLimit as Message,
  envoy_extensions_filters_http_ratelimit_v3_RateLimitPerRoute as PerRoute,
} from '../../../build/messages.gen.js';
import { type CompileContext, defineHttpFilter } from '../../plan/extension.js';
import { errorStatus } from '../../plan/message/error-status.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  Ratelimit_Requests,
  RatelimitRoute_VirtualHostLimits,
  type Ratelimit,
  type RatelimitRoute,
} from '../../plan/plan.gen.js';
import { compileAddition } from '../../plan/route/header-mutations.js';
import { compileRateLimits, RATELIMIT } from '../../plan/route/rate-limits.js';
import { compileShare } from '../../plan/runtime/shares.js';
import { compileRateLimitService } from '../../plan/calls/rate-limit-service.js';

const FIELDS = supportedFields<Message>(RATELIMIT, [
  'domain',
  'stage',
  'request_type',
  'timeout',
  'failure_mode_deny',
  'failure_mode_deny_percent',
  'rate_limited_as_resource_exhausted',
  'rate_limit_service',
  'enable_x_ratelimit_headers',
  'disable_x_envoy_ratelimited_header',
  'rate_limited_status',
  'response_headers_to_add',
  'status_on_error',
  'stat_prefix',
  'filter_enabled',
  'filter_enforced',
  'rate_limits',
  'metadata_namespace',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${RATELIMIT}PerRoute`, [
  'vh_rate_limits',
  'rate_limits',
  'domain',
  // Nobody has made anything of it so far, in the real server either.
  'override_option',
]);

const TOO_MANY_REQUESTS = 429;
const INTERNAL_SERVER_ERROR = 500;
const ALL = 100;
const METADATA_NAMESPACE = 'envoy.filters.http.ratelimit';

export const ratelimit = defineHttpFilter<Message, PerRoute>({
  name: METADATA_NAMESPACE,
  type: FIELDS.type,
  compile: (config, place, context) => ({ ratelimit: compile(config, place, context) }),
  byRoute: {
    type: PER_ROUTE.type,
    compile: (config, place, context) => ({ ratelimit: compileRoute(config, place, context) }),
  },
});

function compile(config: Message, place: Place, context: CompileContext): Ratelimit {
  refuseOtherFields(place, config, FIELDS);
  const limits = compileRateLimits(config.rate_limits, place.field('rate_limits'), context, {
    of: 'service',
  });
  const share = (fraction: RuntimeFraction | undefined, key: string): RuntimeFraction =>
    fraction ?? { runtime_key: `ratelimit.${key}`, default_value: { numerator: ALL } };
  const additions = place.field('response_headers_to_add');
  return {
    service: compileRateLimitService(config, place, context),
    domain: config.domain,
    stage: config.stage,
    requests: REQUESTS[config.request_type ?? ''] ?? Ratelimit_Requests.BOTH,
    failure_mode_deny: config.failure_mode_deny,
    failure_deny_share: compileShare(config.failure_mode_deny_percent, context),
    as_resource_exhausted: config.rate_limited_as_resource_exhausted,
    tells_limit: config.enable_x_ratelimit_headers === 'DRAFT_VERSION_03',
    hides_ratelimited: config.disable_x_envoy_ratelimited_header,
    status: errorStatus(config.rate_limited_status?.code, TOO_MANY_REQUESTS),
    status_on_error: errorStatus(config.status_on_error?.code, INTERNAL_SERVER_ERROR),
    response_add: (config.response_headers_to_add ?? []).flatMap(
      (option, index) => compileAddition(option, additions.index(index)) ?? [],
    ),
    stat_prefix: config.stat_prefix,
    enabled: compileShare(share(config.filter_enabled, 'http_filter_enabled'), context),
    enforced: compileShare(share(config.filter_enforced, 'http_filter_enforcing'), context),
    own_limits: limits.length > 0 ? { limits } : undefined,
    name: config.metadata_namespace || METADATA_NAMESPACE,
  };
}

const REQUESTS: Readonly<Record<string, Ratelimit_Requests>> = {
  internal: Ratelimit_Requests.INTERNAL,
  external: Ratelimit_Requests.EXTERNAL,
};

function compileRoute(config: PerRoute, place: Place, context: CompileContext): RatelimitRoute {
  refuseOtherFields(place, config, PER_ROUTE);
  const limits = compileRateLimits(config.rate_limits, place.field('rate_limits'), context, {
    of: 'service',
  });
  return {
    virtual_host_limits: RatelimitRoute_VirtualHostLimits[config.vh_rate_limits ?? 'OVERRIDE'],
    domain: config.domain,
    limits: limits.length > 0 ? { limits } : undefined,
  };
}
