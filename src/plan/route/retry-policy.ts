// When a request is sent again, and to which hosts.
import type {
  Any,
  envoy_config_route_v3_HeaderMatcher as HeaderMatcher,
  envoy_config_route_v3_HedgePolicy as HedgePolicy,
  envoy_config_route_v3_RetryPolicy as RetryPolicyMessage,
  envoy_config_route_v3_RetryPolicy_RateLimitedRetryBackOff as RateLimitedBackOff,
} from '../../../build/messages.gen.js';
import { nearestName } from '../../base/suggest.js';
import { findExtension, type CompileContext } from '../extension.js';
import { unregistered } from '../known-extensions.js';
import { compileHeaderMatcher } from '../match/matchers.js';
import { refuseShorter } from '../message/back-off.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { HeaderMatch, RetryHosts, RetryPolicy } from '../plan.gen.js';

const POLICY = supportedFields<RetryPolicyMessage>('envoy.config.route.v3.RetryPolicy', [
  'retry_on',
  'num_retries',
  'per_try_timeout',
  'per_try_idle_timeout',
  'retry_priority',
  'retry_host_predicate',
  'host_selection_retry_max_attempts',
  'retry_options_predicates',
  'retriable_status_codes',
  'retry_back_off',
  'rate_limited_retry_back_off',
  'retriable_headers',
  'retriable_request_headers',
  'refresh_cluster_on_retry',
]);
const HEDGE = supportedFields<HedgePolicy>('envoy.config.route.v3.HedgePolicy', [
  'hedge_on_per_try_timeout',
  'initial_requests',
  'additional_request_chance',
]);

const RETRY_ON = [
  '5xx',
  'gateway-error',
  'reset',
  'reset-before-request',
  'connect-failure',
  'envoy-ratelimited',
  'retriable-4xx',
  'refused-stream',
  'retriable-status-codes',
  'retriable-headers',
  'http3-post-connect-failure',
  'cancelled',
  'deadline-exceeded',
  'internal',
  'resource-exhausted',
  'unavailable',
];
const DEFAULT_RESET_MAX_MS = 300_000;

/** Of a route or a virtual host, in either of the two ways to write it. */
export interface RetrySource {
  readonly retry_policy?: RetryPolicyMessage;
  readonly retry_policy_typed_config?: Any;
}

/** Of a cluster, for routes without one: as in the real server, the times of tries are the routes' alone. */
export function compileClusterRetries(
  source: RetrySource,
  place: Place,
  context: CompileContext,
): RetryPolicy | undefined {
  const retries = compileRetries(source, place, context);
  if (!retries) return undefined;
  for (const field of ['per_try_timeout', 'per_try_idle_timeout'] as const) {
    if (!source.retry_policy?.[field]) continue;
    place.field('retry_policy').field(field).warn('has no effect in the policy of a cluster', {
      expected: 'it in the retry_policy of a route or virtual host',
    });
  }
  return { ...retries, per_try_timeout_ms: 0, per_try_idle_timeout_ms: 0 };
}

/** Undefined: it says nothing of retries. */
export function compileRetries(
  source: RetrySource,
  place: Place,
  context: CompileContext,
): RetryPolicy | undefined {
  // An empty one says nothing, in the real server either.
  const typed = source.retry_policy_typed_config?.$type
    ? source.retry_policy_typed_config
    : undefined;
  if (typed && typed.$type !== POLICY.type) {
    place
      .field('retry_policy_typed_config')
      .error(`${typed.$type} is not supported as a retry policy`, { expected: POLICY.type });
    return undefined;
  }
  if (typed) {
    const at = place.field('retry_policy_typed_config');
    return compilePolicy(typed as unknown as RetryPolicyMessage, at, context);
  }
  const policy = source.retry_policy;
  return policy && compilePolicy(policy, place.field('retry_policy'), context);
}

function compilePolicy(
  message: RetryPolicyMessage,
  place: Place,
  context: CompileContext,
): RetryPolicy {
  refuseOtherFields(place, message, POLICY);
  warnOfUnknownWords(message.retry_on ?? '', place.field('retry_on'));
  // There is none, in the real server either.
  for (const [index, { name = '', typed_config }] of (
    message.retry_options_predicates ?? []
  ).entries()) {
    const at = place.field('retry_options_predicates').index(index);
    at.error(unregistered(name, typed_config?.$type ?? ''));
  }
  return {
    retry_on: message.retry_on,
    num_retries: message.num_retries ?? 1,
    per_try_timeout_ms: wholeMs(message.per_try_timeout, 0),
    per_try_idle_timeout_ms: wholeMs(message.per_try_idle_timeout, 0),
    status_codes: message.retriable_status_codes,
    headers: compileHeaders(message.retriable_headers, place.field('retriable_headers')),
    request_headers: compileHeaders(
      message.retriable_request_headers,
      place.field('retriable_request_headers'),
    ),
    ...compileBackOff(message, place.field('retry_back_off')),
    ...compileRateLimited(message.rate_limited_retry_back_off),
    hosts: compileRetryHosts(message, place, context),
    refreshes_cluster: message.refresh_cluster_on_retry,
  };
}

/** The real server takes no notice of words that it does not know. */
function warnOfUnknownWords(text: string, place: Place): void {
  for (const word of text.split(',').map((part) => part.trim())) {
    if (word === '' || RETRY_ON.includes(word)) continue;
    place.warn(`'${word}' is no reason for a retry`, {
      expected: `some of ${RETRY_ON.join(', ')}`,
      suggestion: nearestName(word, RETRY_ON),
    });
  }
}

function compileHeaders(
  matchers: readonly HeaderMatcher[] | undefined,
  place: Place,
): HeaderMatch[] | undefined {
  return matchers?.flatMap(
    (matcher, index) => compileHeaderMatcher(matcher, place.index(index)) ?? [],
  );
}

/** Less than a millisecond counts as one. */
function compileBackOff(
  { retry_back_off: backOff }: RetryPolicyMessage,
  place: Place,
): RetryPolicy {
  if (!backOff) return {};
  const base = Math.max(1, wholeMs(backOff.base_interval, 1));
  if (backOff.max_interval === undefined) return { base_interval_ms: base };
  const max = Math.max(1, wholeMs(backOff.max_interval, 1));
  refuseShorter(
    { baseMs: base, maxMs: max },
    place,
    'retry_policy.max_interval must greater than or equal to the base_interval',
  );
  return { base_interval_ms: base, max_interval_ms: max };
}

function compileRateLimited(backOff: RateLimitedBackOff | undefined): RetryPolicy {
  if (!backOff) return {};
  return {
    reset_headers: (backOff.reset_headers ?? []).map(({ name, format }) => ({
      name: name?.toLowerCase(),
      is_unix_timestamp: format === 'UNIX_TIMESTAMP',
    })),
    reset_max_interval_ms: Math.max(1, wholeMs(backOff.max_interval, DEFAULT_RESET_MAX_MS)),
  };
}

function compileRetryHosts(
  message: RetryPolicyMessage,
  place: Place,
  context: CompileContext,
): RetryHosts | undefined {
  const predicates = message.retry_host_predicate ?? [];
  const priority = message.retry_priority?.name ? message.retry_priority : undefined;
  if (predicates.length === 0 && !priority) return undefined;
  const parts = predicates.map((config, index): RetryHosts => {
    const at = place.field('retry_host_predicate').index(index);
    const extension = findExtension(context, 'retryHostPredicates', config, at);
    if (!extension || !config.typed_config) return {};
    return extension.compile(config.typed_config, at.field('typed_config'), context);
  });
  if (priority) {
    const at = place.field('retry_priority');
    const extension = findExtension(context, 'retryPriorities', priority, at);
    if (extension && priority.typed_config) {
      parts.push(extension.compile(priority.typed_config, at.field('typed_config'), context));
    }
  }
  const labelled = parts.flatMap((part) => part.avoid_labelled ?? []);
  return {
    ...Object.assign({}, ...parts),
    avoid_labelled: labelled,
    more_choices: message.host_selection_retry_max_attempts || 1,
  };
}

/** Whether a try that takes too long goes on beside the next one; undefined: nothing is said. */
export function compileHedging(
  message: HedgePolicy | undefined,
  place: Place,
): boolean | undefined {
  if (!message) return undefined;
  refuseOtherFields(place, message, HEDGE);
  for (const name of ['initial_requests', 'additional_request_chance'] as const) {
    if (message[name] === undefined) continue;
    place.field(name).warn('has no effect, as in the real server: one request is sent at first');
  }
  return message.hedge_on_per_try_timeout ?? false;
}
