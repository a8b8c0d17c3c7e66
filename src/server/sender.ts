// Who this server is to those that it sends statistics to.
import type { envoy_config_core_v3_Node as Node } from '../../build/messages.gen.js';
import type { Options } from '../options/parse.js';
import { buildVersion } from '../base/version.js';
import { disableExtensions, listExtensions } from '../extensions/catalogue.js';
import { REGISTRY } from '../extensions/registry.js';
import type { Sender } from '../stats/node-bytes.js';

/** The bootstrap's node, with what the command line says instead. */
export function senderOf(node: Node, options: Options): Sender {
  const { serviceNode, serviceCluster, serviceZone, disabledExtensions } = options;
  return {
    node: {
      ...node,
      ...(serviceNode && { id: serviceNode }),
      ...(serviceCluster && { cluster: serviceCluster }),
      ...(serviceZone && { locality: { ...node.locality, zone: serviceZone } }),
    },
    build: buildVersion(),
    extensions: listExtensions(disableExtensions(REGISTRY, disabledExtensions).registry),
  };
}
