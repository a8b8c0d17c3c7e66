// Who this server is: the bootstrap's node, with what the command line says instead.
import type { envoy_config_core_v3_Node as Node } from '../../build/messages.gen.js';

export interface NodeOptions {
  readonly serviceNode?: string;
  readonly serviceCluster?: string;
  readonly serviceZone?: string;
}

export function ownNode(
  node: Node,
  { serviceNode, serviceCluster, serviceZone }: NodeOptions,
): Node {
  return {
    ...node,
    ...(serviceNode && { id: serviceNode }),
    ...(serviceCluster && { cluster: serviceCluster }),
    ...(serviceZone && { locality: { ...node.locality, zone: serviceZone } }),
  };
}
