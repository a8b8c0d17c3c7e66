// The clusters that routes name.
import { nearestName } from '../../base/suggest.js';
import type { Place } from '../message/place.js';
import type { RouteScope } from './route-scope.js';

/** What clusters that are named have to be. */
export type ClusterCheck = Pick<RouteScope, 'context' | 'validatesClusters'>;

/** A route may only name a cluster that exists when it is read, unless its table says otherwise. */
export function checkCluster(
  name: string,
  what: 'cluster' | 'weighted cluster' | 'shadow cluster',
  place: Place,
  scope: ClusterCheck,
): void {
  const known = scope.context.clusterNames;
  // A cluster whose name is missing, which is an error of its own, may be the one.
  if (!scope.validatesClusters || known.has(name) || known.has('')) return;
  place.error(`route: unknown ${what} '${name}'`, {
    expected: 'the name of a cluster',
    suggestion: nearestName(name, known),
  });
}
