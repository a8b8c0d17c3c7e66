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

/** What a program says of itself. */
export interface Agent {
  readonly name: string;
  readonly build: NonNullable<Node['user_agent_build_version']>;
  readonly extensions: NonNullable<Node['extensions']>;
}

/** A node that tells of the program as well, where the bootstrap says nothing else; versions are builds. */
export function withAgent(node: Node, agent: Agent): Node {
  const { user_agent_version: _, ...rest } = node;
  return {
    ...rest,
    user_agent_name: node.user_agent_name || agent.name,
    user_agent_build_version: node.user_agent_build_version ?? agent.build,
    extensions: [...(node.extensions ?? []), ...agent.extensions],
  };
}
