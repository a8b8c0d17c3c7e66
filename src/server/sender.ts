// Who this server is to those that it sends statistics to.
import type { envoy_config_core_v3_Node as Node } from '../../build/messages.gen.js';
import type { Options } from '../options/parse.js';
import { buildVersion } from '../base/version.js';
import { disableExtensions, listExtensions } from '../extensions/catalogue.js';
import { REGISTRY } from '../extensions/registry.js';
import { ownNode } from '../plan/own-node.js';
import type { Sender } from '../stats/node-bytes.js';

export function senderOf(node: Node, options: Options): Sender {
  const { disabledExtensions } = options;
  return {
    node: ownNode(node, options),
    build: buildVersion(),
    extensions: listExtensions(disableExtensions(REGISTRY, disabledExtensions).registry),
  };
}
