// A node (envoy.config.core.v3.Node) in protobuf's wire format.
import type { envoy_config_core_v3_Node as Node } from '../../build/messages.gen.js';
import type { BuildVersion } from '../base/version.js';
import { WireWriter } from '../base/wire.js';
import { encodeAny } from '../config/encode.js';

const IDENTIFIER = (1 << 3) | 2;
const NODE_OF_IDENTIFIER = (1 << 3) | 2;

/** Who sends statistics: the node of the configuration, with this build and what it has. */
export interface Sender {
  readonly node: Node;
  readonly build: BuildVersion;
}

/** StreamMetricsMessage.identifier */
export function identifierBytes(sender: Sender): Uint8Array {
  const out = new WireWriter();
  out.message(IDENTIFIER, nodeBytes(sender), (identifier, node) =>
    identifier.bytes(NODE_OF_IDENTIFIER, node),
  );
  return out.finish();
}

/** The node by itself. */
export function nodeBytes({ node }: Sender): Uint8Array {
  return encodeAny({ ...node, $type: 'envoy.config.core.v3.Node' }).value;
}
