// A SubstitutionFormatString: of loggers' lines, and of answers' bodies.
import type {
  envoy_config_core_v3_SubstitutionFormatString as FormatString,
  envoy_config_core_v3_TypedExtensionConfig as Formatter,
} from '../../../build/messages.gen.js';
import { isObject } from '../../config/values/objects.js';
import type { PlainObject } from '../../config/values/objects.js';
import { readTextSource } from '../message/data-source.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { FormatPiece_Operator as Operator, type Format, type ReplyFormat } from '../plan.gen.js';
import { header } from './format-operators.js';
import { compileFormat, type FormatUse, type OwnOperators } from './format.js';
import { compileJsonFormat } from './json-format.js';

const FIELDS = supportedFields<FormatString>('envoy.config.core.v3.SubstitutionFormatString', [
  'text_format',
  'text_format_source',
  'json_format',
  // Members of objects are sorted in any case.
  'json_format_options',
  'omit_empty_values',
  'content_type',
  'formatters',
]);

/** How something reads: a substitution format, or a JSON object of such. */
export interface ReadFormat {
  readonly format: string | PlainObject;
  readonly omitsEmpty?: boolean;
  /** Operators that its own formatters know. */
  readonly own?: OwnOperators;
  /** Where the configuration has it. */
  readonly place: Place;
}

/** Undefined after an error. */
export function readFormatString(message: FormatString, place: Place): ReadFormat | undefined {
  refuseOtherFields(place, message, FIELDS);
  const own = readFormatters(message.formatters, place.field('formatters'));
  const common = { omitsEmpty: message.omit_empty_values ?? false, ...(own && { own }) };
  if (message.json_format)
    return { ...common, format: message.json_format, place: place.field('json_format') };
  if (message.text_format_source) {
    const at = place.field('text_format_source');
    const format = readTextSource(message.text_format_source, at);
    return format === undefined ? undefined : { ...common, format, place: at };
  }
  return { ...common, format: message.text_format ?? '', place: place.field('text_format') };
}

/** Undefined after an error. */
export function compileReadFormat(read: ReadFormat, use: FormatUse): Format | undefined {
  const { format, omitsEmpty, own, place } = read;
  const result =
    typeof format === 'string'
      ? compileFormat(format, use, own)
      : compileJsonFormat(format, use, own);
  if ('error' in result) {
    place.error(result.error, result);
    return undefined;
  }
  return { ...('json' in result ? result : result.format), omit_empty: omitsEmpty };
}

/** The body of an answer that is the proxy's own. Undefined after an error. */
export function compileReplyFormat(message: FormatString, place: Place): ReplyFormat | undefined {
  const read = readFormatString(message, place);
  const format = read && compileReadFormat(read, 'header');
  const isJson = isObject(message.json_format);
  return (
    format && {
      format,
      content_type: message.content_type || (isJson ? 'application/json' : 'text/plain'),
    }
  );
}

const WITHOUT_QUERY = 'envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery';
/** What it knows every format knows. */
const METADATA = 'envoy.extensions.formatter.metadata.v3.Metadata';

/** Undefined: none says more than what is always known. */
export function readFormatters(
  formatters: readonly Formatter[] | undefined,
  place: Place,
): OwnOperators | undefined {
  let own: OwnOperators | undefined;
  (formatters ?? []).forEach(({ name = '', typed_config: config }, index) => {
    const type = config?.$type ?? '';
    if (type === WITHOUT_QUERY) own = withoutQuery;
    else if (type !== METADATA) {
      place.index(index).error(`the formatter ${name} (${type}) is not supported`, {
        expected: `${WITHOUT_QUERY} or ${METADATA}`,
      });
    }
  });
  return own;
}

const withoutQuery: OwnOperators = (name, argument, length) => {
  if (name !== 'REQ_WITHOUT_QUERY') return undefined;
  const rule = header(Operator.REQ_WITHOUT_QUERY);
  return rule.compile({ name, argument, length, use: 'http_log' });
};
