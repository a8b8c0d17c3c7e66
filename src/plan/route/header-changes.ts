// Lists of changes of a message's headers, each made after the one before it.
import type { envoy_config_common_mutation_rules_v3_HeaderMutation as HeaderMutation } from '../../../build/messages.gen.js';
import type { OwnOperators } from '../format/format.js';
import { compileStringMatcher } from '../match/matchers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { HeaderChange } from '../plan.gen.js';
import { compileAddition, isModifiable } from './header-mutations.js';

const MUTATION = supportedFields<HeaderMutation>(
  'envoy.config.common.mutation_rules.v3.HeaderMutation',
  ['remove', 'append', 'remove_on_match'],
);

export function compileHeaderChanges(
  mutations: readonly HeaderMutation[] | undefined,
  place: Place,
  own?: OwnOperators,
): readonly HeaderChange[] {
  return (mutations ?? []).flatMap(
    (one, index) => compileChange(one, place.index(index), own) ?? [],
  );
}

function compileChange(
  message: HeaderMutation,
  place: Place,
  own: OwnOperators | undefined,
): HeaderChange | undefined {
  refuseOtherFields(place, message, MUTATION);
  const { append, remove_on_match: match, remove = '' } = message;
  if (append) {
    const add = compileAddition(append, place.field('append'), own);
    return add && { add };
  }
  if (match) {
    const at = place.field('remove_on_match').field('key_matcher');
    const remove_matching = compileStringMatcher(match.key_matcher ?? {}, at);
    return remove_matching && { remove_matching };
  }
  const name = remove.toLowerCase();
  // Stricter than the real server, whose copies then fail one by one.
  if (isModifiable(name)) return { remove: name };
  place.field('remove').error(':-prefixed or host headers may not be removed');
  return undefined;
}
