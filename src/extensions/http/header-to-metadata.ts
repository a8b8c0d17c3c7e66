// envoy.filters.http.header_to_metadata
import type {
  envoy_extensions_filters_http_header_to_metadata_v3_Config as Message,
  envoy_extensions_filters_http_header_to_metadata_v3_Config_KeyValuePair as KeyValuePair,
  envoy_extensions_filters_http_header_to_metadata_v3_Config_Rule as RuleMessage,
} from '../../../build/messages.gen.js';
import { defineHttpFilter } from '../../plan/extension.js';
import { compileRegexRewrite } from '../../plan/match/matchers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  MetadataTarget_Type as Type,
  type HeaderToMetadata,
  type MetadataRule,
  type MetadataTarget,
} from '../../plan/plan.gen.js';

const TYPE = 'envoy.extensions.filters.http.header_to_metadata.v3.Config';
const FIELDS = supportedFields<Message>(TYPE, ['request_rules', 'response_rules', 'stat_prefix']);
const RULE = supportedFields<RuleMessage>(`${TYPE}.Rule`, [
  'header',
  'cookie',
  'on_header_present',
  'on_header_missing',
  'remove',
]);
const PAIR = supportedFields<KeyValuePair>(`${TYPE}.KeyValuePair`, [
  'metadata_namespace',
  'key',
  'value',
  'regex_value_rewrite',
  'type',
  'encode',
]);

export const headerToMetadata = defineHttpFilter<Message, Message>({
  name: 'envoy.filters.http.header_to_metadata',
  type: TYPE,
  compile: (config, place) => ({ header_to_metadata: compile(config, place) }),
  byRoute: {
    type: TYPE,
    compile(config, place) {
      const { request_rules: request = [], response_rules: response = [] } = config;
      if (request.length + response.length === 0) {
        place.error(
          'header_to_metadata_filter: Per filter configs must at least specify either request or ' +
            'response rules',
        );
      }
      return { header_to_metadata: compile(config, place) };
    },
  },
});

function compile(config: Message, place: Place): HeaderToMetadata {
  refuseOtherFields(place, config, FIELDS);
  const rules = (name: 'request_rules' | 'response_rules'): MetadataRule[] =>
    (config[name] ?? []).map((rule, index) => compileRule(rule, place.field(name).index(index)));
  return {
    request: rules('request_rules'),
    response: rules('response_rules'),
    stat_prefix: config.stat_prefix,
  };
}

function compileRule(rule: RuleMessage, place: Place): MetadataRule {
  refuseOtherFields(place, rule, RULE);
  const { header = '', cookie = '', on_header_present: present, on_header_missing: missing } = rule;
  const fault = faultOf(rule);
  if (fault !== undefined) place.error(fault);
  return {
    header: header.toLowerCase(),
    cookie,
    present: present && compileTarget(present, place.field('on_header_present')),
    missing: missing && compileTarget(missing, place.field('on_header_missing')),
    remove: rule.remove,
  };
}

/** In the real server's words. */
function faultOf(rule: RuleMessage): string | undefined {
  const { header = '', cookie = '', on_header_present: present, on_header_missing: missing } = rule;
  if (cookie !== '' && header !== '') return 'Cannot specify both header and cookie';
  if (cookie === '' && header === '') return 'One of Cookie or Header option needs to be specified';
  if (!present && !missing) {
    const what = header === '' ? `cookie '${cookie}'` : `header '${header.toLowerCase()}'`;
    return (
      `header to metadata filter: rule for ${what} has neither ` +
      '`on_header_present` nor `on_header_missing` set'
    );
  }
  if (present?.value && present.regex_value_rewrite) {
    return 'Cannot specify both value and regex_value_rewrite';
  }
  if (cookie !== '' && rule.remove) return 'Cannot specify remove for cookie';
  if (missing && !missing.value) return 'Cannot specify on_header_missing rule with an empty value';
  return undefined;
}

const TYPES = {
  STRING: Type.STRING,
  NUMBER: Type.NUMBER,
  PROTOBUF_VALUE: Type.PROTOBUF_VALUE,
} as const;

function compileTarget(pair: KeyValuePair, place: Place): MetadataTarget {
  refuseOtherFields(place, pair, PAIR);
  const { regex_value_rewrite: rewrite } = pair;
  return {
    space: pair.metadata_namespace,
    key: pair.key,
    value: pair.value,
    type: TYPES[pair.type ?? 'STRING'],
    base64: pair.encode === 'BASE64',
    rewrite: rewrite && compileRegexRewrite(rewrite, place.field('regex_value_rewrite')),
  };
}
