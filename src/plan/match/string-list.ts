// envoy.type.matcher.v3.ListStringMatcher: one of several patterns.
import type { envoy_type_matcher_v3_ListStringMatcher as ListMatcher } from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';
import type { StringMatches } from '../plan.gen.js';
import { compileStringMatcher } from './matchers.js';

/** Undefined: there is no list. */
export function compileStringList(
  list: ListMatcher | undefined,
  place: Place,
): StringMatches | undefined {
  if (!list?.patterns?.length) return undefined;
  const patterns = place.field('patterns');
  return {
    any: list.patterns.flatMap(
      (pattern, index) => compileStringMatcher(pattern, patterns.index(index)) ?? [],
    ),
  };
}
