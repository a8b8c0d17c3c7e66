// Who this server is to those that it sends statistics to.
import type { envoy_config_core_v3_Node as Node } from '../../build/messages.gen.js';
import type { Options } from '../options/parse.js';
import { buildVersion } from '../base/version.js';
import { disableExtensions, listExtensions } from '../extensions/catalogue.js';
import { REGISTRY } from '../extensions/registry.js';
import { ownNode, withAgent } from '../plan/own-node.js';
import type { Sender } from '../stats/node-bytes.js';

/** Of the real server, which some of them want. */
const NAME = 'envoy';

export function senderOf(node: Node, options: Options): Sender {
  const { registry } = disableExtensions(REGISTRY, options.disabledExtensions);
  const extensions = listExtensions(registry).map(({ name, category, isDisabled, type }) => ({
    ...{ name, category },
    ...(isDisabled && { disabled: true }),
    type_urls: [type],
  }));
  const build = buildVersion();
  return { node: withAgent(ownNode(node, options), { name: NAME, build, extensions }), build };
}
