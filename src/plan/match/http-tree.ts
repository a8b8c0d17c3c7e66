// Trees of matchers that are asked of requests and their answers.
import type {
  Any,
  envoy_extensions_matching_common_inputs_environment_variable_v3_Config as Environment,
  envoy_extensions_matching_common_inputs_network_v3_DynamicMetadataInput as MetadataInput,
  envoy_type_matcher_v3_HttpRequestQueryParamMatchInput as QueryInput,
  xds_type_matcher_v3_Matcher as MatcherMessage,
} from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';
import { MatchInput_Kind, type MatchInput, type MatchTree } from '../plan.gen.js';
import type { RuntimeReads } from '../runtime/runtime-reads.js';
import { compileMatchTree, type MatchTenant } from './match-tree.js';

const HTTP = 'envoy.type.matcher.v3';
const NETWORK = 'envoy.extensions.matching.common_inputs.network.v3';
const SSL = 'envoy.extensions.matching.common_inputs.ssl.v3';
const ENVIRONMENT = 'envoy.extensions.matching.common_inputs.environment_variable.v3.Config';

type Input = readonly [
  type: string,
  compile: MatchTenant['inputs'] extends ReadonlyMap<string, infer C> ? C : never,
];

const plain = (type: string, kind: MatchInput_Kind): Input => [type, () => ({ kind })];

const ofHeader = (type: string, kind: MatchInput_Kind): Input => [
  `${HTTP}.${type}`,
  (config: Any): MatchInput => ({
    kind,
    name: ((config as { header_name?: string }).header_name ?? '').toLowerCase(),
  }),
];

const INPUTS: readonly Input[] = [
  ofHeader('HttpRequestHeaderMatchInput', MatchInput_Kind.REQUEST_HEADER),
  ofHeader('HttpRequestTrailerMatchInput', MatchInput_Kind.REQUEST_TRAILER),
  ofHeader('HttpResponseHeaderMatchInput', MatchInput_Kind.RESPONSE_HEADER),
  ofHeader('HttpResponseTrailerMatchInput', MatchInput_Kind.RESPONSE_TRAILER),
  [
    `${HTTP}.HttpRequestQueryParamMatchInput`,
    (config: Any): MatchInput => ({
      kind: MatchInput_Kind.QUERY_PARAMETER,
      name: (config as QueryInput).query_param,
    }),
  ],
  plain(`${HTTP}.HttpResponseStatusCodeMatchInput`, MatchInput_Kind.STATUS_CODE),
  plain(`${HTTP}.HttpResponseStatusCodeClassMatchInput`, MatchInput_Kind.STATUS_CLASS),
  plain(`${HTTP}.HttpResponseLocalReplyMatchInput`, MatchInput_Kind.LOCAL_REPLY),
  plain(`${NETWORK}.DestinationIPInput`, MatchInput_Kind.DESTINATION_IP),
  plain(`${NETWORK}.DestinationPortInput`, MatchInput_Kind.DESTINATION_PORT),
  plain(`${NETWORK}.SourceIPInput`, MatchInput_Kind.SOURCE_IP),
  plain(`${NETWORK}.SourcePortInput`, MatchInput_Kind.SOURCE_PORT),
  plain(`${NETWORK}.DirectSourceIPInput`, MatchInput_Kind.DIRECT_SOURCE_IP),
  plain(`${NETWORK}.SourceTypeInput`, MatchInput_Kind.SOURCE_TYPE),
  plain(`${NETWORK}.ServerNameInput`, MatchInput_Kind.SERVER_NAME),
  plain(`${NETWORK}.NetworkNamespaceInput`, MatchInput_Kind.NOTHING),
  // Nobody here keeps objects of filter state.
  plain(`${NETWORK}.FilterStateInput`, MatchInput_Kind.NOTHING),
  [
    `${NETWORK}.DynamicMetadataInput`,
    (config: Any): MatchInput => {
      const { filter, path = [] } = config as MetadataInput;
      return {
        kind: MatchInput_Kind.DYNAMIC_METADATA,
        metadata_namespace: filter,
        path: path.map(({ key = '' }) => key),
      };
    },
  ],
  plain(`${SSL}.SubjectInput`, MatchInput_Kind.TLS_SUBJECT),
  plain(`${SSL}.UriSanInput`, MatchInput_Kind.TLS_URI_NAMES),
  plain(`${SSL}.DnsSanInput`, MatchInput_Kind.TLS_DNS_NAMES),
  [
    ENVIRONMENT,
    (config: Any): MatchInput => {
      const value = process.env[(config as Environment).name ?? ''];
      return value === undefined
        ? { kind: MatchInput_Kind.NOTHING }
        : { kind: MatchInput_Kind.CONSTANT, name: value };
    },
  ],
];

/** By the types of their messages. */
export const HTTP_INPUTS: MatchTenant['inputs'] = new Map(INPUTS);

/** Of those, what can be asked of a connection without requests. */
export const CONNECTION_INPUTS: MatchTenant['inputs'] = new Map(
  INPUTS.filter(([type]) => type.startsWith(NETWORK) || type.startsWith(SSL)),
);

/** All that trees of routes may ask. */
export const REQUEST_HEADER = `${HTTP}.HttpRequestHeaderMatchInput`;

/** What is wrong goes to `place`; the result is only used when nothing is. */
export function compileHttpTree(
  message: MatcherMessage,
  place: Place,
  runtime: RuntimeReads,
  action: MatchTenant['action'],
  inputs: MatchTenant['inputs'] = HTTP_INPUTS,
): MatchTree {
  return compileMatchTree(message, place, { inputs, complaint: '', runtime, action });
}
