// transport_socket_matcher of clusters: a tree whose actions name transport sockets.
import type {
  Any,
  xds_type_matcher_v3_Matcher as MatcherMessage,
  envoy_extensions_matching_common_inputs_transport_socket_v3_EndpointMetadataInput as MetadataInput,
  envoy_extensions_matching_common_inputs_transport_socket_v3_TransportSocketNameAction as NameAction,
} from '../../../build/messages.gen.js';
import { unregistered } from '../known-extensions.js';
import { compileMatchTree, type MatchTenant } from '../match/match-tree.js';
import type { Place } from '../message/place.js';
import { MatchInput_Kind, type MatchInput, type MatchTree } from '../plan.gen.js';

const PACKAGE = 'envoy.extensions.matching.common_inputs.transport_socket.v3';
const ACTION = `${PACKAGE}.TransportSocketNameAction`;
const DEFAULT_NAMESPACE = 'envoy.lb';

/** What a tree needs of hosts. */
export interface SocketTree {
  readonly tree: MatchTree;
  readonly inputs: readonly MatchInput[];
}

/** `sockets`: names of the cluster's transport_socket_matches. */
export function compileSocketTree(
  message: MatcherMessage,
  sockets: readonly string[],
  place: Place,
): SocketTree {
  const inputs: MatchInput[] = [];
  const ofMetadata =
    (kind: MatchInput_Kind) =>
    (config: Any): MatchInput => {
      const { filter, path = [] } = config as MetadataInput;
      const input = {
        kind,
        metadata_namespace: filter || DEFAULT_NAMESPACE,
        path: path.map(({ key = '' }) => key),
      };
      inputs.push(input);
      return input;
    };
  const tenant: MatchTenant = {
    inputs: new Map([
      [`${PACKAGE}.EndpointMetadataInput`, ofMetadata(MatchInput_Kind.ENDPOINT_METADATA)],
      [`${PACKAGE}.LocalityMetadataInput`, ofMetadata(MatchInput_Kind.LOCALITY_METADATA)],
      // Nothing that is shared with connections to hosts sets filter state.
      [`${PACKAGE}.FilterStateInput`, () => ({ kind: MatchInput_Kind.NOTHING })],
    ]),
    complaint: '',
    action: (config, name, at) => actionOf(config, name, at, sockets),
  };
  return { tree: compileMatchTree(message, place, tenant), inputs };
}

/** The place of a socket; one beyond the last stands for the cluster's own. */
function actionOf(
  config: Any,
  name: string,
  place: Place,
  sockets: readonly string[],
): number | undefined {
  if (config.$type !== ACTION) {
    place.error(unregistered(name, config.$type), { expected: ACTION });
    return undefined;
  }
  const { name: socket = '' } = config as NameAction;
  const found = sockets.indexOf(socket);
  if (found >= 0) return found;
  place.field('name').warn(`Transport socket '${socket}' not found, using default`, {
    expected: 'a name of transport_socket_matches',
  });
  return sockets.length;
}
