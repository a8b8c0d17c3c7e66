// How HTTP/1 writes the names of headers.
import type {
  envoy_config_core_v3_Http1ProtocolOptions_HeaderKeyFormat as KeyFormat,
  envoy_extensions_http_header_formatters_preserve_case_v3_PreserveCaseFormatterConfig as PreserveCaseMessage,
} from '../../build/messages.gen.js';
import { unregistered } from './known-extensions.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import type { PreserveCase } from './plan.gen.js';

const KEY_FORMAT = supportedFields<KeyFormat>(
  'envoy.config.core.v3.Http1ProtocolOptions.HeaderKeyFormat',
  ['proper_case_words', 'stateful_formatter'],
);
const PRESERVE_CASE = supportedFields<PreserveCaseMessage>(
  'envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig',
  ['forward_reason_phrase', 'formatter_type_on_envoy_headers'],
);

export interface HeaderCase {
  readonly proper_case_words?: boolean;
  readonly preserve_case?: PreserveCase;
}

export function compileHeaderCase(format: KeyFormat | undefined, place: Place): HeaderCase {
  if (!format) return {};
  refuseOtherFields(place, format, KEY_FORMAT);
  const formatter = format.stateful_formatter;
  if (!formatter) return { proper_case_words: format.proper_case_words !== undefined };
  const config = formatter.typed_config;
  const at = place.field('stateful_formatter').field('typed_config');
  if (config?.$type !== PRESERVE_CASE.type) {
    at.error(unregistered(formatter.name ?? '', config?.$type ?? ''), {
      expected: PRESERVE_CASE.type,
    });
    return {};
  }
  const message = config as PreserveCaseMessage;
  refuseOtherFields(at.within(PRESERVE_CASE.type), message, PRESERVE_CASE);
  return {
    preserve_case: {
      forwards_reason: message.forward_reason_phrase,
      capitalizes_own: message.formatter_type_on_envoy_headers === 'PROPER_CASE',
    },
  };
}
