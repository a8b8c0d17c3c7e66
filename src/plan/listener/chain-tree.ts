// filter_chain_matcher of listeners: a tree whose actions name filter chains.
import type {
  Any,
  xds_type_matcher_v3_Matcher as MatcherMessage,
} from '../../../build/messages.gen.js';
import { unregistered } from '../known-extensions.js';
import { compileMatchTree, type MatchTenant } from '../match/match-tree.js';
import type { Place } from '../message/place.js';
import { MatchInput_Kind, type ChainTree, type MatchInput } from '../plan.gen.js';

const INPUTS = 'envoy.extensions.matching.common_inputs.network.v3';
const STRING_VALUE = 'google.protobuf.StringValue';

/**
 * Nobody sets filter state before a filter chain is chosen, and sockets are all of this process's name
 * space: both have no value, as in the real server.
 */
const KINDS: Readonly<Record<string, MatchInput_Kind>> = {
  DestinationIPInput: MatchInput_Kind.DESTINATION_IP,
  DestinationPortInput: MatchInput_Kind.DESTINATION_PORT,
  SourceIPInput: MatchInput_Kind.SOURCE_IP,
  SourcePortInput: MatchInput_Kind.SOURCE_PORT,
  DirectSourceIPInput: MatchInput_Kind.DIRECT_SOURCE_IP,
  SourceTypeInput: MatchInput_Kind.SOURCE_TYPE,
  ServerNameInput: MatchInput_Kind.SERVER_NAME,
  TransportProtocolInput: MatchInput_Kind.TRANSPORT_PROTOCOL,
  ApplicationProtocolInput: MatchInput_Kind.APPLICATION_PROTOCOL,
  FilterStateInput: MatchInput_Kind.NOTHING,
  NetworkNamespaceInput: MatchInput_Kind.NOTHING,
};

const INPUT_TABLE = new Map(
  Object.entries(KINDS).map(([name, kind]): [string, () => MatchInput] => [
    `${INPUTS}.${name}`,
    () => ({ kind }),
  ]),
);

const COMPLAINT = 'cannot create a filter chain matcher: ';

/** What is wrong goes to `place`; the result is only used when nothing is. */
export function compileChainTree(message: MatcherMessage, place: Place): ChainTree {
  const chains: string[] = [];
  const tenant: MatchTenant = {
    inputs: INPUT_TABLE,
    complaint: COMPLAINT,
    action: (config: Any, name: string, at: Place) => {
      if (config.$type !== STRING_VALUE) {
        at.error(COMPLAINT + unregistered(name, config.$type), {
          expected: `${STRING_VALUE} with the name of a filter chain`,
        });
        return undefined;
      }
      const chain = ('value' in config && typeof config.value === 'string' && config.value) || '';
      const known = chains.indexOf(chain);
      return known >= 0 ? known : chains.push(chain) - 1;
    },
  };
  return { tree: compileMatchTree(message, place, tenant), chains };
}
