// envoy.filters.http.json_to_metadata
import type {
  envoy_extensions_filters_http_json_to_metadata_v3_JsonToMetadata as Message,
  envoy_extensions_filters_http_json_to_metadata_v3_JsonToMetadata_KeyValuePair as KeyValuePair,
  envoy_extensions_filters_http_json_to_metadata_v3_JsonToMetadata_MatchRules as MatchRules,
  envoy_extensions_filters_http_json_to_metadata_v3_JsonToMetadata_Rule as Rule,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import { compileRegexMatcher } from '../../plan/match/matchers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  JsonMetadataTarget_Type as Type,
  type JsonMetadataRule,
  type JsonMetadataRules,
  type JsonMetadataTarget,
  type JsonToMetadata,
} from '../../plan/plan.gen.js';

const TYPE = 'envoy.extensions.filters.http.json_to_metadata.v3.JsonToMetadata';
const FIELDS = supportedFields<Message>(TYPE, ['request_rules', 'response_rules']);
const RULES = supportedFields<MatchRules>(`${TYPE}.MatchRules`, [
  'rules',
  'allow_content_types',
  'allow_empty_content_type',
  'allow_content_types_regex',
]);
const RULE = supportedFields<Rule>(`${TYPE}.Rule`, [
  'selectors',
  'on_present',
  'on_missing',
  'on_error',
]);
const PAIR = supportedFields<KeyValuePair>(`${TYPE}.KeyValuePair`, [
  'metadata_namespace',
  'key',
  'value',
  'type',
  'preserve_existing_metadata_value',
]);

export const jsonToMetadata = defineHttpFilter<Message, Message>({
  name: 'envoy.filters.http.json_to_metadata',
  type: TYPE,
  compile: (config, place) => ({ json_to_metadata: compile(config, place) }),
  byRoute: {
    type: TYPE,
    compile(config, place) {
      if (!config.request_rules && !config.response_rules) {
        place.error(
          'json_to_metadata_filter: Per route configs must at least specify one of request_rules or ' +
            'response_rules.',
        );
      }
      return { json_to_metadata: compile(config, place) };
    },
  },
});

function compile(config: Message, place: Place): JsonToMetadata {
  refuseOtherFields(place, config, FIELDS);
  const { request_rules: request, response_rules: response } = config;
  return {
    request: request && compileRules(request, place.field('request_rules')),
    response: response && compileRules(response, place.field('response_rules')),
  };
}

function compileRules(message: MatchRules, place: Place): JsonMetadataRules {
  refuseOtherFields(place, message, RULES);
  const { allow_content_types: types = [], allow_content_types_regex: regex } = message;
  return {
    rules: (message.rules ?? []).map((rule, index) =>
      compileRule(rule, place.field('rules').index(index)),
    ),
    content_types: types.length > 0 ? types : ['application/json'],
    allows_no_content_type: message.allow_empty_content_type,
    content_type_regex:
      regex && compileRegexMatcher(regex, place.field('allow_content_types_regex')),
  };
}

function compileRule(rule: Rule, place: Place): JsonMetadataRule {
  refuseOtherFields(place, rule, RULE);
  const { on_present: present, on_missing: missing, on_error: error } = rule;
  if (!present && !missing) {
    place.error('json to metadata filter: neither `on_present` nor `on_missing` set');
  }
  if (missing && missing.value === undefined) {
    place.error('json to metadata filter: cannot specify on_missing rule with empty value');
  }
  if (error && error.value === undefined) {
    place.error('json to metadata filter: cannot specify on_error rule with empty value');
  }
  return {
    path: (rule.selectors ?? []).map(({ key = '' }) => key),
    present: present && compileTarget(present, place.field('on_present')),
    missing: missing && compileTarget(missing, place.field('on_missing')),
    error: error && compileTarget(error, place.field('on_error')),
  };
}

const TYPES = {
  PROTOBUF_VALUE: Type.PROTOBUF_VALUE,
  STRING: Type.STRING,
  NUMBER: Type.NUMBER,
} as const;

function compileTarget(pair: KeyValuePair, place: Place): JsonMetadataTarget {
  refuseOtherFields(place, pair, PAIR);
  return {
    space: pair.metadata_namespace,
    key: pair.key,
    ...(pair.value !== undefined && { value: JSON.stringify(pair.value) }),
    type: TYPES[pair.type ?? 'PROTOBUF_VALUE'],
    preserves: pair.preserve_existing_metadata_value,
  };
}
