// What runtime keys say of faults for requests of single downstream clusters.
import type { FaultRuntime } from '../plan/plan.gen.js';
import { keysOf, valuesOf, type RuntimeSnapshot } from './snapshot.js';

const KEY =
  /^fault\.http\.(.+)\.(delay\.fixed_delay_percent|delay\.fixed_duration_ms|abort\.abort_percent|abort\.http_status|abort\.grpc_status)$/s;

const FIELDS = {
  'delay.fixed_delay_percent': 'delay_share',
  'delay.fixed_duration_ms': 'delay_ms',
  'abort.abort_percent': 'abort_share',
  'abort.http_status': 'http_status',
  'abort.grpc_status': 'grpc_status',
} as const;

/** By cluster. */
export function faultOverrides(snapshot: RuntimeSnapshot): ReadonlyMap<string, FaultRuntime> {
  const values = valuesOf(snapshot);
  const clusters = new Map<string, FaultRuntime>();
  for (const key of keysOf(snapshot)) {
    const [, cluster, name] = KEY.exec(key) ?? [];
    if (cluster === undefined) continue;
    const field = FIELDS[name as keyof typeof FIELDS];
    const value = field.endsWith('share') ? values.millionthsOr(key, -1) : values.number(key, -1);
    if (value < 0) continue;
    clusters.set(cluster, { ...clusters.get(cluster), cluster, [field]: value });
  }
  return clusters;
}
