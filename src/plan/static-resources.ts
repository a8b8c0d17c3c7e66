// Clusters and listeners of the bootstrap itself: what they become, and what they may not be beside each other.
import type {
  envoy_config_bootstrap_v3_Bootstrap_StaticResources as StaticResources,
  envoy_config_cluster_v3_Cluster as Cluster,
} from '../../build/messages.gen.js';
import type { CompileContext } from './extension.js';
import { compileCluster, type ClusterPlan, type DefaultBind } from './cluster/cluster.js';
import { compileListener } from './listener/listener.js';
import { addressesOf, addressesText, fixedAddresses } from './listener/listen-sockets.js';
import { Place } from './message/place.js';
import type { Assignment, Listener } from './plan.gen.js';

/**
 * By name where zones count, as the real server goes through clusters at its start: those before the
 * local cluster reckon their zones once more, which is counted.
 */
export function assignmentsOf(
  clusters: readonly ClusterPlan[],
  { localCluster }: CompileContext,
): Assignment[] {
  const assignments = clusters.flatMap((plan) => plan.assignment ?? []);
  if (!localCluster) return assignments;
  const nameOf = ({ cluster_name: name = '' }: Assignment): string => name;
  return assignments.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

export function compileClusters(
  resources: StaticResources,
  place: Place,
  context: CompileContext,
  bind: DefaultBind | undefined,
): ClusterPlan[] {
  const seen = new Map<string, number>();
  const at = place.field('static_resources').field('clusters');
  const messages = resources.clusters ?? [];
  messages.forEach((message, index) => {
    const name = message.name ?? '';
    const first = seen.get(name);
    if (first === undefined) {
      seen.set(name, index);
    } else {
      at.index(index)
        .field('name')
        .error(`cluster manager: duplicate cluster '${name}'`, {
          expected: 'a name of its own for each cluster',
          related: at.index(first).field('name'),
        });
    }
  });
  const plans: (ClusterPlan | undefined)[] = [];
  for (const asksOthers of [false, true]) {
    messages.forEach((message, index) => {
      if (mayAskOthers(message) !== asksOthers) return;
      const plan = compileCluster(message, at.index(index), context, bind);
      if (plan) context.grpcClusters.set(message.name ?? '', plan.control);
      plans[index] = plan;
    });
  }
  return plans.flatMap((plan) => plan ?? []);
}

/** Its hosts or secrets may come from a control plane at another cluster, which is to be known first. */
function mayAskOthers({ eds_cluster_config, transport_socket, ...rest }: Cluster): boolean {
  if (eds_cluster_config) return true;
  if (!transport_socket && !rest.transport_socket_matches) return false;
  const text = JSON.stringify([transport_socket, rest.transport_socket_matches]);
  return text.includes('"api_config_source"');
}

export function checkLocalCluster(
  name: string | undefined,
  place: Place,
  { clusterNames }: CompileContext,
): void {
  if (!name || clusterNames.has(name)) return;
  place.error(`local cluster '${name}' must be defined`, {
    expected: 'the name of a static cluster',
  });
}

/** Two listeners of one address would take each other's connections. */
function refuseSharedAddress(
  listener: Listener,
  index: number,
  owners: Map<string, number>,
  place: Place,
): void {
  const { name = '' } = listener;
  const texts = fixedAddresses(listener);
  const owner = texts.map((text) => owners.get(text)).find((found) => found !== undefined);
  if (owner === undefined) {
    for (const text of texts) owners.set(text, index);
    return;
  }
  const what = `'${name}' has duplicate address '${addressesText(addressesOf(listener))}' as existing listener`;
  place
    .index(index)
    .field('address')
    .error(`error adding listener: ${what}`, { related: place.index(owner).field('address') });
}

/** A second listener of a name changes nothing and is not even looked at, as in the real server. */
export function compileListeners(
  resources: StaticResources,
  place: Place,
  context: CompileContext,
): Listener[] {
  const listeners: Listener[] = [];
  const indexes = new Map<string, number>();
  const owners = new Map<string, number>();
  (resources.listeners ?? []).forEach((message, index) => {
    const { name = '' } = message;
    const first = name === '' ? undefined : indexes.get(name);
    if (first !== undefined) {
      place
        .index(index)
        .field('name')
        .warn(`listener '${name}' is there twice: this one is not used`, {
          expected: 'a name of its own for each listener',
          related: place.index(first).field('name'),
        });
      return;
    }
    indexes.set(name, index);
    const listener = compileListener(message, place.index(index), context);
    if (!listener) return;
    refuseSharedAddress(listener, index, owners, place);
    listeners.push(listener);
  });
  return listeners;
}
