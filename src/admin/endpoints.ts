// The one table of admin endpoints: it drives routing, method checks, /help and the home page.
import type { Endpoint } from './endpoint.js';
import { certificateEndpoints } from './handlers/certificates.js';
import { clusterEndpoints } from './handlers/clusters.js';
import { configDumpEndpoints } from './handlers/config-dump.js';
import { diagnosticEndpoints } from './handlers/diagnostics.js';
import { drainEndpoints } from './handlers/drain.js';
import { healthEndpoints } from './handlers/health.js';
import { homeEndpoints } from './handlers/home.js';
import { hystrixEndpoints } from './handlers/hystrix.js';
import { listenerEndpoints } from './handlers/listeners.js';
import { loggingEndpoints } from './handlers/logging.js';
import { processEndpoints } from './handlers/process.js';
import { profilerEndpoints } from './handlers/profilers.js';
import { recentLookupEndpoints } from './handlers/recent-lookups.js';
import { runtimeEndpoints } from './handlers/runtime.js';
import { serverInfoEndpoints } from './handlers/server-info.js';
import { statsEndpoints } from './handlers/stats.js';
import { tapEndpoints } from './handlers/tap.js';
import type { AdminPlan } from '../plan/bootstrap/admin.js';
import type { AdminHost } from './host.js';

/** Sorted by path. */
export function makeEndpoints(host: AdminHost, plan: AdminPlan): readonly Endpoint[] {
  const endpoints: Endpoint[] = [
    ...homeEndpoints(() => endpoints),
    ...certificateEndpoints(host),
    ...clusterEndpoints(host),
    ...configDumpEndpoints(host),
    ...diagnosticEndpoints(host),
    ...drainEndpoints(host),
    ...healthEndpoints(host),
    ...hystrixEndpoints(host),
    ...listenerEndpoints(host),
    ...loggingEndpoints(host),
    ...processEndpoints(host),
    ...profilerEndpoints(host, plan.profilePath),
    ...recentLookupEndpoints(host),
    ...runtimeEndpoints(host),
    ...serverInfoEndpoints(host),
    ...statsEndpoints(host),
    ...tapEndpoints(host),
  ];
  return endpoints.sort((a, b) => (a.path < b.path ? -1 : 1));
}
