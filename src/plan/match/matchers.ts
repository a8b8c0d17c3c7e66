// Matchers of texts, headers and query parameters.
import type {
  envoy_config_route_v3_HeaderMatcher as HeaderMatcher,
  envoy_config_route_v3_QueryParameterMatcher as QueryParameterMatcher,
  envoy_type_matcher_v3_RegexMatcher as RegexMatcher,
  envoy_type_matcher_v3_RegexMatchAndSubstitute as RegexMatchAndSubstitute,
  envoy_type_matcher_v3_StringMatcher as StringMatcher,
} from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';
import {
  HeaderMatch_Kind,
  StringMatch_Kind,
  type HeaderMatch,
  type QueryMatch,
  type Regex,
  type RegexRewrite,
  type StringMatch,
} from '../plan.gen.js';
import { runtimeLimit, type ProgramSizeLimit } from './regex/program-size.js';
import { compileRegex } from './regex/regex.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const STRING = supportedFields<StringMatcher>('envoy.type.matcher.v3.StringMatcher', [
  'exact',
  'prefix',
  'suffix',
  'contains',
  'safe_regex',
  'ignore_case',
]);
const REGEX = supportedFields<RegexMatcher>('envoy.type.matcher.v3.RegexMatcher', [
  'regex',
  'google_re2',
]);
const HEADER = supportedFields<HeaderMatcher>('envoy.config.route.v3.HeaderMatcher', [
  'name',
  'exact_match',
  'safe_regex_match',
  'range_match',
  'present_match',
  'prefix_match',
  'suffix_match',
  'contains_match',
  'string_match',
  'invert_match',
  'treat_missing_header_as_empty',
]);
const QUERY = supportedFields<QueryParameterMatcher>(
  'envoy.config.route.v3.QueryParameterMatcher',
  ['name', 'string_match', 'present_match'],
);

/** A header's name as plans have it: in lower case, "host" under its modern name. */
export function requestHeaderName(name: string | undefined): string {
  const lower = (name ?? '').toLowerCase();
  return lower === 'host' ? ':authority' : lower;
}

/** `own`: of the pattern alone. */
function programLimit(own: number | undefined, place: Place): ProgramSizeLimit {
  if (own !== undefined) return { size: own, source: 'config' };
  return runtimeLimit((key, fallback) => place.runtimeNumber(key, fallback));
}

function warnOfSize(pattern: string, size: number, place: Place): void {
  const most = place.runtimeNumber('re2.max_program_size.warn_level', Infinity);
  if (size <= most) return;
  place
    .field('regex')
    .warn(
      `regex '${pattern}' RE2 program size of ${size} > max program size of ${most} set for the ` +
        'warn level threshold. Increase configured max program size if necessary.',
    );
}

/** A pattern's program, or undefined after an error. */
export function compileRegexMatcher(message: RegexMatcher, place: Place): Regex | undefined {
  refuseOtherFields(place, message, REGEX);
  const pattern = message.regex ?? '';
  const limit = programLimit(message.google_re2?.max_program_size, place);
  const compiled = compileRegex(pattern, limit);
  if ('program' in compiled) {
    if (limit.source === 'runtime') warnOfSize(pattern, compiled.size ?? 0, place);
    return { pattern, program: compiled.program };
  }
  const expected = compiled.isTooLarge ? undefined : "a regular expression in RE2's syntax";
  place.field('regex').error(compiled.error, { expected });
  return undefined;
}

/** Every match of a pattern is replaced. */
export function compileRegexRewrite(
  message: RegexMatchAndSubstitute,
  place: Place,
): RegexRewrite | undefined {
  const regex = compileRegexMatcher(message.pattern ?? {}, place.field('pattern'));
  if (!regex) return undefined;
  const substitution = message.substitution ?? '';
  const fault = faultOf(substitution, regex);
  if (fault !== undefined) {
    place.field('substitution').warn(`nothing will ever be replaced: ${fault}`, {
      expected: '\\0 to \\9 for a group, \\\\ for a backslash',
    });
  }
  return { regex, substitution };
}

/** A substitution that cannot be followed leaves the text as it is. */
function faultOf(substitution: string, regex: Regex): string | undefined {
  const program = regex.program ?? new Uint8Array();
  // The third word: two slots for the whole match and for each group.
  const slots = new DataView(program.buffer, program.byteOffset).getUint32(8, true);
  for (const [text, next = ''] of substitution.matchAll(/\\([^]?)/g)) {
    if (next === '\\') continue;
    if (!/\d/.test(next)) return `'${text}' means nothing`;
    if (Number(next) >= slots / 2) return `the pattern has no group ${next}`;
  }
  return undefined;
}

export function compileStringMatcher(
  message: StringMatcher,
  place: Place,
): StringMatch | undefined {
  refuseOtherFields(place, message, STRING);
  if (message.safe_regex) {
    if (message.ignore_case) {
      place.field('ignore_case').error('ignore_case has no effect for safe_regex.', {
        expected: 'a regular expression that begins with (?i)',
      });
    }
    const regex = compileRegexMatcher(message.safe_regex, place.field('safe_regex'));
    return regex && { kind: StringMatch_Kind.REGEX, regex };
  }
  const ignoreCase = message.ignore_case ?? false;
  const match = (kind: StringMatch_Kind, value: string): StringMatch => ({
    kind,
    value: ignoreCase ? value.toLowerCase() : value,
    ignore_case: ignoreCase,
  });
  if (message.prefix !== undefined) return match(StringMatch_Kind.PREFIX, message.prefix);
  if (message.suffix !== undefined) return match(StringMatch_Kind.SUFFIX, message.suffix);
  if (message.contains !== undefined) return match(StringMatch_Kind.CONTAINS, message.contains);
  return match(StringMatch_Kind.EXACT, message.exact ?? '');
}

/** The text that a header must fit, and where the configuration has it; none: its presence counts. */
function headerText(message: HeaderMatcher, place: Place): [StringMatcher, Place] | undefined {
  if (message.string_match) return [message.string_match, place.field('string_match')];
  // These are older ways to write the same.
  // An empty exact_match fits any value, as in the real server.
  if (message.exact_match === '') return [{ prefix: '' }, place];
  if (message.exact_match !== undefined) return [{ exact: message.exact_match }, place];
  if (message.prefix_match !== undefined) return [{ prefix: message.prefix_match }, place];
  if (message.suffix_match !== undefined) return [{ suffix: message.suffix_match }, place];
  if (message.contains_match !== undefined) return [{ contains: message.contains_match }, place];
  if (message.safe_regex_match)
    return [{ safe_regex: message.safe_regex_match }, place.field('safe_regex_match')];
  return undefined;
}

export function compileHeaderMatcher(
  message: HeaderMatcher,
  place: Place,
): HeaderMatch | undefined {
  refuseOtherFields(place, message, HEADER);
  const common = {
    name: requestHeaderName(message.name),
    invert: message.invert_match,
    treat_missing_as_empty: message.treat_missing_header_as_empty,
  };
  const text = headerText(message, place);
  if (text) {
    const match = compileStringMatcher(...text);
    return match && { ...common, kind: HeaderMatch_Kind.STRING, string_match: match };
  }
  if (message.range_match) {
    const { start = 0, end = 0 } = message.range_match;
    return { ...common, kind: HeaderMatch_Kind.RANGE, range_start: start, range_end: end };
  }
  return { ...common, kind: HeaderMatch_Kind.PRESENT, present: message.present_match ?? true };
}

export function compileQueryMatcher(
  message: QueryParameterMatcher,
  place: Place,
): QueryMatch | undefined {
  refuseOtherFields(place, message, QUERY);
  const name = message.name ?? '';
  if (message.string_match) {
    const match = compileStringMatcher(message.string_match, place.field('string_match'));
    return match && { name, string_match: match };
  }
  return message.present_match === false ? { name, is_absent: true } : { name };
}
