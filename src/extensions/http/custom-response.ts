// envoy.filters.http.custom_response: a chain and its routes configure it by the same message.
import type {
  Any,
  envoy_extensions_filters_http_custom_response_v3_CustomResponse as Message,
  envoy_type_matcher_v3_HttpRequestHeaderMatchInput as HeaderInput,
} from '../../../build/messages.gen.js';
import { type CompileContext, defineHttpFilter, findExtension } from '../../plan/extension.js';
import { compileMatchTree, type MatchTenant } from '../../plan/match/match-tree.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  MatchInput_Kind,
  type CustomResponse,
  type MatchInput,
  type ResponsePolicy,
} from '../../plan/plan.gen.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.filters.http.custom_response.v3.CustomResponse',
  ['custom_response_matcher'],
);
const INPUTS = 'envoy.type.matcher.v3.Http';

export const customResponse = defineHttpFilter<Message, Message>({
  name: 'envoy.filters.http.custom_response',
  type: FIELDS.type,
  compile: (config, place, context) => ({ custom_response: compile(config, place, context) }),
  byRoute: {
    type: FIELDS.type,
    compile: (config, place, context) => ({ custom_response: compile(config, place, context) }),
  },
});

function compile(config: Message, place: Place, context: CompileContext): CustomResponse {
  refuseOtherFields(place, config, FIELDS);
  if (!config.custom_response_matcher) return {};
  const policies: ResponsePolicy[] = [];
  const headerOf =
    (kind: MatchInput_Kind) =>
    (input: Any): MatchInput => ({
      kind,
      name: ((input as HeaderInput).header_name ?? '').toLowerCase(),
    });
  const tenant: MatchTenant = {
    inputs: new Map([
      [`${INPUTS}ResponseStatusCodeMatchInput`, () => ({ kind: MatchInput_Kind.STATUS_CODE })],
      [
        `${INPUTS}ResponseStatusCodeClassMatchInput`,
        () => ({ kind: MatchInput_Kind.STATUS_CLASS }),
      ],
      [`${INPUTS}ResponseLocalReplyMatchInput`, () => ({ kind: MatchInput_Kind.LOCAL_REPLY })],
      [`${INPUTS}RequestHeaderMatchInput`, headerOf(MatchInput_Kind.REQUEST_HEADER)],
      [`${INPUTS}ResponseHeaderMatchInput`, headerOf(MatchInput_Kind.RESPONSE_HEADER)],
    ]),
    complaint: '',
    action(action, name, at) {
      const named = { name, typed_config: action };
      const extension = findExtension(context, 'responsePolicies', named, at);
      const policy = extension?.compile(action, at, context);
      return policy && policies.push(policy) - 1;
    },
  };
  const tree = compileMatchTree(
    config.custom_response_matcher,
    place.field('custom_response_matcher'),
    tenant,
  );
  return { tree, policies };
}
