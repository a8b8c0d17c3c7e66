// The filters of access logs: a tree of conditions.
import type {
  envoy_config_accesslog_v3_AccessLogFilter as FilterMessage,
  envoy_config_accesslog_v3_ComparisonFilter as ComparisonFilter,
  envoy_config_accesslog_v3_RuntimeFilter as RuntimeFilter,
  envoy_config_route_v3_HeaderMatcher as HeaderMatcher,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { compileHeaderMatcher } from '../match/matchers.js';
import type { Place } from '../message/place.js';
import {
  AccessLogFilter_Comparison,
  AccessLogFilter_Kind as Kind,
  HeaderMatch_Kind,
  type AccessLogFilter,
  type HeaderCondition,
} from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const FILTER = supportedFields<FilterMessage>('envoy.config.accesslog.v3.AccessLogFilter', [
  'status_code_filter',
  'duration_filter',
  'not_health_check_filter',
  'runtime_filter',
  'and_filter',
  'or_filter',
  'header_filter',
  'response_flag_filter',
]);
const RUNTIME = supportedFields<RuntimeFilter>('envoy.config.accesslog.v3.RuntimeFilter', [
  'runtime_key',
  'percent_sampled',
]);

/** Undefined after an error. */
export function compileAccessLogFilter(
  message: FilterMessage,
  place: Place,
  context: CompileContext,
): AccessLogFilter | undefined {
  refuseOtherFields(place, message, FILTER);
  const all = (name: 'and_filter' | 'or_filter'): AccessLogFilter[] =>
    (message[name]?.filters ?? []).flatMap(
      (filter, i) =>
        compileAccessLogFilter(filter, place.field(name).field('filters').index(i), context) ?? [],
    );
  if (message.status_code_filter)
    return compare(Kind.STATUS, message.status_code_filter.comparison, context);
  if (message.duration_filter)
    return compare(Kind.DURATION, message.duration_filter.comparison, context);
  if (message.not_health_check_filter) return { kind: Kind.NOT_HEALTH_CHECK };
  if (message.runtime_filter)
    return share(message.runtime_filter, place.field('runtime_filter'), context);
  if (message.and_filter) return { kind: Kind.AND, filters: all('and_filter') };
  if (message.or_filter) return { kind: Kind.OR, filters: all('or_filter') };
  if (message.response_flag_filter)
    return { kind: Kind.FLAGS, flags: message.response_flag_filter.flags };
  if (message.header_filter) {
    const at = place.field('header_filter').field('header');
    const header = compileCondition(message.header_filter.header ?? {}, at);
    return header && { kind: Kind.HEADER, header };
  }
  return undefined;
}

function compare(
  kind: Kind,
  filter: ComparisonFilter | undefined,
  context: CompileContext,
): AccessLogFilter {
  const { runtime_key: key, default_value: fallback = 0 } = filter?.value ?? {};
  const { value, slot } = context.runtime.liveNumber(key, fallback);
  return { kind, comparison: AccessLogFilter_Comparison[filter?.op ?? 'EQ'], value, slot };
}

function share(filter: RuntimeFilter, place: Place, context: CompileContext): AccessLogFilter {
  refuseOtherFields(place, filter, RUNTIME);
  const { value, slot } = context.runtime.liveMillionths(
    filter.runtime_key,
    filter.percent_sampled,
  );
  return { kind: Kind.RUNTIME, share_millionths: value, slot };
}

function compileCondition(message: HeaderMatcher, place: Place): HeaderCondition | undefined {
  const match = compileHeaderMatcher(message, place);
  if (!match) return undefined;
  if (match.kind === HeaderMatch_Kind.RANGE || match.treat_missing_as_empty) {
    const field =
      match.kind === HeaderMatch_Kind.RANGE ? 'range_match' : 'treat_missing_header_as_empty';
    place.field(field).error(`${field} is not supported yet in the filter of an access log`);
    return undefined;
  }
  const asksForAbsence = match.kind === HeaderMatch_Kind.PRESENT && match.present === false;
  return {
    name: match.name,
    present_only: match.kind === HeaderMatch_Kind.PRESENT,
    string_match: match.string_match,
    invert: (match.invert ?? false) !== asksForAbsence,
  };
}
