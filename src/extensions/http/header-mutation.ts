// envoy.filters.http.header_mutation
import type {
  envoy_config_core_v3_KeyValueMutation as KeyValueMutation,
  envoy_extensions_filters_http_header_mutation_v3_HeaderMutation as Message,
  envoy_extensions_filters_http_header_mutation_v3_HeaderMutationPerRoute as PerRoute,
  envoy_extensions_filters_http_header_mutation_v3_Mutations as Mutations,
} from '../../../build/messages.gen.js';
import { defineHttpFilter, type CompileContext } from '../../plan/extension.js';
import { compileFormat, type OwnOperators } from '../../plan/format/format.js';
import { readFormatters } from '../../plan/format-string/formatters.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  QueryChange_Action,
  type HeaderChange,
  type HeaderMutation,
  type QueryChange,
} from '../../plan/plan.gen.js';
import { compileHeaderChanges } from '../../plan/route/header-changes.js';

const PACKAGE = 'envoy.extensions.filters.http.header_mutation.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.HeaderMutation`, [
  'mutations',
  'most_specific_header_mutations_wins',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.HeaderMutationPerRoute`, ['mutations']);
const MUTATIONS = supportedFields<Mutations>(`${PACKAGE}.Mutations`, [
  'request_mutations',
  'query_parameter_mutations',
  'response_mutations',
  'request_trailers_mutations',
  'response_trailers_mutations',
  'formatters',
]);
const QUERY = supportedFields<KeyValueMutation>('envoy.config.core.v3.KeyValueMutation', [
  'append',
  'remove',
]);

const ACTIONS = {
  APPEND_IF_EXISTS_OR_ADD: QueryChange_Action.APPEND,
  ADD_IF_ABSENT: QueryChange_Action.ADD_IF_ABSENT,
  OVERWRITE_IF_EXISTS_OR_ADD: QueryChange_Action.OVERWRITE_OR_ADD,
  OVERWRITE_IF_EXISTS: QueryChange_Action.OVERWRITE_IF_EXISTS,
} as const;

export const headerMutation = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.header_mutation',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    return {
      header_mutation: {
        mutations: compile(config.mutations, place.field('mutations'), context),
        most_specific_wins: config.most_specific_header_mutations_wins,
      },
    };
  },
  byRoute: {
    type: PER_ROUTE.type,
    compile(config, place, context) {
      refuseOtherFields(place, config, PER_ROUTE);
      return { header_mutation: compile(config.mutations, place.field('mutations'), context) };
    },
  },
});

function compile(message: Mutations = {}, place: Place, context: CompileContext): HeaderMutation {
  refuseOtherFields(place, message, MUTATIONS);
  const own = readFormatters(message.formatters, place.field('formatters'), context);
  const changes = (
    name:
      | 'request_mutations'
      | 'response_mutations'
      | 'request_trailers_mutations'
      | 'response_trailers_mutations',
  ): readonly HeaderChange[] => compileHeaderChanges(message[name], place.field(name), own);
  return {
    request: changes('request_mutations'),
    response: changes('response_mutations'),
    request_trailers: changes('request_trailers_mutations'),
    response_trailers: changes('response_trailers_mutations'),
    query: (message.query_parameter_mutations ?? []).flatMap(
      (one, index) =>
        compileQuery(one, place.field('query_parameter_mutations').index(index), own) ?? [],
    ),
  };
}

/** Undefined after an error. */
function compileQuery(
  message: KeyValueMutation,
  place: Place,
  own: OwnOperators | undefined,
): QueryChange | undefined {
  refuseOtherFields(place, message, QUERY);
  const { append, remove } = message;
  if (append && remove) {
    place.error("Only one of 'append'/'remove' can be specified", {
      expected: 'append, or remove',
    });
    return undefined;
  }
  if (remove) return { action: QueryChange_Action.REMOVE, name: remove };
  const at = place.field('append');
  if (!append) {
    place.error('a query parameter that is neither appended nor removed', {
      expected: 'append, or remove',
    });
    return undefined;
  }
  const { record } = append;
  if (!record) {
    at.error('No record is provided', { expected: 'record: {key: …, value: …}' });
    return undefined;
  }
  if (typeof record.value !== 'string') {
    at.field('record').field('value').error('Only string value is allowed for record value.');
    return undefined;
  }
  const result = compileFormat(record.value, 'header', own);
  if ('error' in result) {
    at.field('record').field('value').error(result.error, result);
    return undefined;
  }
  const action = ACTIONS[append.action ?? 'APPEND_IF_EXISTS_OR_ADD'];
  return { action, name: record.key, value: result.format };
}
