// What runtime keys say of single clusters: other limits of their circuit breakers, and maintenance.
import type { ClusterRuntime, LimitOverrides } from '../plan/plan.gen.js';
import type { RuntimeValues } from '../plan/runtime/runtime.js';
import { keysOf, valuesOf, type RuntimeSnapshot } from './snapshot.js';

const LIMIT =
  /^circuit_breakers\.(.+)\.(default|high)\.(max_(?:connections|pending_requests|requests|retries|connection_pools))$/s;
const BUDGET =
  /^circuit_breakers\.(.+)\.(default|high)\.retry_budget\.(budget_percent|min_retry_concurrency|budget_interval)$/s;
const MILLIONTHS_OF_PERCENT = 10_000;
const MAINTENANCE = 'upstream.maintenance_mode.';
const MOST = 0xffff_ffff;

type Limits = { -readonly [Name in keyof LimitOverrides]: LimitOverrides[Name] };

/** By cluster; whether there is such a cluster, the data plane knows. */
export function clusterOverrides(snapshot: RuntimeSnapshot): ReadonlyMap<string, ClusterRuntime> {
  const values = valuesOf(snapshot);
  const clusters = new Map<string, ClusterOverrides>();
  const of = (name: string): ClusterOverrides => {
    const known = clusters.get(name) ?? new ClusterOverrides(name);
    clusters.set(name, known);
    return known;
  };
  for (const key of keysOf(snapshot)) {
    const [, name, priority, limit] = LIMIT.exec(key) ?? [];
    if (name !== undefined) {
      const value = values.number(key, -1);
      if (value < 0) continue;
      const limits = of(name).limits[priority === 'high' ? 1 : 0];
      limits[limit as keyof Limits] = Math.min(value, MOST);
    } else if (BUDGET.test(key)) {
      readBudget(key, values, of);
    } else if (key.startsWith(MAINTENANCE)) {
      of(key.slice(MAINTENANCE.length)).maintenance_millionths = values.millionths(key, undefined);
    }
  }
  return clusters;
}

function readBudget(
  key: string,
  values: RuntimeValues,
  of: (name: string) => ClusterOverrides,
): void {
  const [, name = '', priority, part] = BUDGET.exec(key) ?? [];
  const value = values.decimal(key, -1);
  if (value < 0) return;
  const limits = of(name).limits[priority === 'high' ? 1 : 0];
  if (part === 'budget_percent') {
    limits.retry_share_millionths = Math.min(Math.round(value * MILLIONTHS_OF_PERCENT), MOST);
  } else if (part === 'budget_interval') {
    limits.retry_interval_ms = Math.trunc(value);
  } else {
    limits.min_retry_concurrency = Math.min(Math.trunc(value), MOST);
  }
}

class ClusterOverrides {
  readonly cluster_name: string;
  /** Of the default priority, and of the high one. */
  readonly limits: readonly [Limits, Limits] = [{}, {}];
  maintenance_millionths = 0;

  constructor(name: string) {
    this.cluster_name = name;
  }
}
