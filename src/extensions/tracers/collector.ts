// The cluster of a collector that is posted to.
import { nearestName } from '../../base/suggest.js';
import type { CompileContext } from '../../plan/extension.js';
import type { HttpServicePlan } from '../../plan/http-service.js';
import type { Place } from '../../plan/message/place.js';

/** Whether there is one; if not, that is said. */
export function findCollector(
  tracer: string,
  { cluster }: HttpServicePlan,
  place: Place,
  { clusterNames, grpcClusters }: CompileContext,
): boolean {
  if (!clusterNames.has(cluster) && !grpcClusters.has(cluster)) {
    place.error(`${tracer}: unknown cluster '${cluster}'`, {
      suggestion: nearestName(cluster, clusterNames),
    });
    return false;
  }
  refuseOddClusters(cluster, place, { grpcClusters });
  return true;
}

/** What connections of the control plane cannot do. */
export function refuseOddClusters(
  name: string,
  place: Place,
  { grpcClusters }: Pick<CompileContext, 'grpcClusters'>,
): void {
  const cluster = grpcClusters.known(name);
  const what =
    cluster?.goesThrough ??
    (cluster?.tls?.unsupported === undefined ? undefined : `TLS with ${cluster.tls.unsupported}`);
  if (what === undefined) return;
  place.error(`cluster '${name}' has ${what}, which is not supported yet for collectors`);
}
