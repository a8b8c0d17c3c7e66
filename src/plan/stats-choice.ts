// Which statistics are kept: of all of them, of a listener, of a cluster.
import type { envoy_config_metrics_v3_StatsMatcher as StatsMatcher } from '../../build/messages.gen.js';
import { compileStringMatcher } from './match/matchers.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import {
  StatsChoice_Kind,
  StatsSettings_Selection,
  type StatsChoice,
  type StatsSettings,
  type StringMatch,
} from './plan.gen.js';

const MATCHER = supportedFields<StatsMatcher>('envoy.config.metrics.v3.StatsMatcher', [
  'reject_all',
  'exclusion_list',
  'inclusion_list',
]);
const CHOICES = {
  [StatsSettings_Selection.ALL]: StatsChoice_Kind.ALL,
  [StatsSettings_Selection.NONE]: StatsChoice_Kind.NONE,
  [StatsSettings_Selection.LISTED]: StatsChoice_Kind.LISTED,
  [StatsSettings_Selection.NOT_LISTED]: StatsChoice_Kind.NOT_LISTED,
} as const;

/** Of a listener or a cluster, whose statistics have more to pass than all others. */
export function compileStatsChoice(
  matcher: StatsMatcher | undefined,
  place: Place,
): { stats_choice?: StatsChoice } {
  if (!matcher) return {};
  const { selection = StatsSettings_Selection.ALL, listed = [] } = compileSelection(matcher, place);
  return { stats_choice: { kind: CHOICES[selection], listed } };
}

export function compileSelection(
  matcher: StatsMatcher | undefined,
  place: Place,
): Pick<StatsSettings, 'selection' | 'listed'> {
  if (!matcher) return {};
  refuseOtherFields(place, matcher, MATCHER);
  if (matcher.reject_all !== undefined) {
    return {
      selection: matcher.reject_all ? StatsSettings_Selection.NONE : StatsSettings_Selection.ALL,
    };
  }
  const isInclusion = matcher.inclusion_list !== undefined;
  const list = matcher.inclusion_list ?? matcher.exclusion_list;
  const at = place.field(isInclusion ? 'inclusion_list' : 'exclusion_list').field('patterns');
  const listed = (list?.patterns ?? []).flatMap((pattern, index): StringMatch[] => {
    const match = compileStringMatcher(pattern, at.index(index));
    return match ? [match] : [];
  });
  const { LISTED, NOT_LISTED } = StatsSettings_Selection;
  return { selection: isInclusion ? LISTED : NOT_LISTED, listed };
}
