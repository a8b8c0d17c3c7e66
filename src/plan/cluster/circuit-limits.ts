// Circuit breakers: how much of a cluster may be in use at once.
import type {
  envoy_config_cluster_v3_CircuitBreakers as CircuitBreakers,
  envoy_config_cluster_v3_CircuitBreakers_Thresholds as Thresholds,
  envoy_config_cluster_v3_CircuitBreakers_Thresholds_RetryBudget as RetryBudgetMessage,
} from '../../../build/messages.gen.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { CircuitLimits, RetryBudget } from '../plan.gen.js';

const BREAKERS = supportedFields<CircuitBreakers>('envoy.config.cluster.v3.CircuitBreakers', [
  'thresholds',
  'per_host_thresholds',
]);
// As in the real server, no gauge tells what of a host's limit remains.
const PER_HOST = supportedFields<Thresholds>('envoy.config.cluster.v3.CircuitBreakers.Thresholds', [
  'priority',
  'max_connections',
  'track_remaining',
]);
const THRESHOLDS = supportedFields<Thresholds>(
  'envoy.config.cluster.v3.CircuitBreakers.Thresholds',
  [
    'priority',
    'max_connections',
    'max_pending_requests',
    'max_requests',
    'max_retries',
    'track_remaining',
    'retry_budget',
    'max_connection_pools',
  ],
);
const BUDGET = supportedFields<RetryBudgetMessage>(
  'envoy.config.cluster.v3.CircuitBreakers.Thresholds.RetryBudget',
  ['budget_percent', 'min_retry_concurrency', 'budget_interval'],
);

const DEFAULTS = { connections: 1024, pending: 1024, requests: 1024, retries: 3 } as const;
const DEFAULT_BUDGET = { percent: 20, minConcurrency: 3 } as const;
const MILLIONTHS_OF_PERCENT = 10_000;

/** The default and the high priority; of several thresholds for one, the first counts. */
export function compileLimits(breakers: CircuitBreakers, place: Place): CircuitLimits[] {
  refuseOtherFields(place, breakers, BREAKERS);
  const at = place.field('thresholds');
  const thresholds = breakers.thresholds ?? [];
  thresholds.forEach((item, index) => refuseOtherFields(at.index(index), item, THRESHOLDS));
  const perHost = breakers.per_host_thresholds ?? [];
  perHost.forEach((item, index) =>
    refuseOtherFields(place.field('per_host_thresholds').index(index), item, PER_HOST),
  );
  return (['DEFAULT', 'HIGH'] as const).map((priority) => {
    const index = thresholds.findIndex((item) => (item.priority ?? 'DEFAULT') === priority);
    const found = thresholds[index];
    const budget = found?.retry_budget;
    return {
      max_connections: found?.max_connections ?? DEFAULTS.connections,
      max_pending_requests: found?.max_pending_requests ?? DEFAULTS.pending,
      max_requests: found?.max_requests ?? DEFAULTS.requests,
      max_retries: found?.max_retries ?? DEFAULTS.retries,
      max_connection_pools: found?.max_connection_pools,
      track_remaining: found?.track_remaining,
      max_connections_per_host: perHost.find((item) => (item.priority ?? 'DEFAULT') === priority)
        ?.max_connections,
      retry_budget: budget && compileBudget(budget, at.index(index).field('retry_budget')),
    };
  });
}

function compileBudget(message: RetryBudgetMessage, place: Place): RetryBudget {
  refuseOtherFields(place, message, BUDGET);
  const percent = message.budget_percent ? (message.budget_percent.value ?? 0) : undefined;
  return {
    share_millionths: Math.round((percent ?? DEFAULT_BUDGET.percent) * MILLIONTHS_OF_PERCENT),
    min_concurrency: message.min_retry_concurrency ?? DEFAULT_BUDGET.minConcurrency,
    interval_ms: wholeMs(message.budget_interval, 0),
  };
}
