// Headers that a route, a virtual host or a whole table adds and removes.
import type {
  envoy_config_core_v3_HeaderValue as HeaderValue,
  envoy_config_core_v3_HeaderValueOption as HeaderValueOption,
} from '../../../build/messages.gen.js';
import { compileFormat, type OwnOperators } from '../format/format.js';
import type { Place } from '../message/place.js';
import { HeaderAddition_Action, type HeaderAddition, type HeaderMutations } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const OPTION = supportedFields<HeaderValueOption>('envoy.config.core.v3.HeaderValueOption', [
  'header',
  'append',
  'append_action',
  'keep_empty_value',
]);
const HEADER = supportedFields<HeaderValue>('envoy.config.core.v3.HeaderValue', [
  'key',
  'value',
  'raw_value',
]);

const ACTIONS = {
  APPEND_IF_EXISTS_OR_ADD: HeaderAddition_Action.APPEND,
  ADD_IF_ABSENT: HeaderAddition_Action.ADD_IF_ABSENT,
  OVERWRITE_IF_EXISTS_OR_ADD: HeaderAddition_Action.OVERWRITE_OR_ADD,
  OVERWRITE_IF_EXISTS: HeaderAddition_Action.OVERWRITE_IF_EXISTS,
} as const;

/** The fields that routes, virtual hosts, tables and weighted clusters have in common. */
export interface MutatesHeaders {
  readonly request_headers_to_add?: readonly HeaderValueOption[];
  readonly request_headers_to_remove?: readonly string[];
  readonly response_headers_to_add?: readonly HeaderValueOption[];
  readonly response_headers_to_remove?: readonly string[];
}

/** Undefined when nothing is added or removed. `own`: operators that this place gives a value. */
export function compileHeaderMutations(
  message: MutatesHeaders,
  place: Place,
  own?: OwnOperators,
): HeaderMutations | undefined {
  const add = (name: 'request_headers_to_add' | 'response_headers_to_add'): HeaderAddition[] =>
    (message[name] ?? []).flatMap(
      (option, i) => compileAddition(option, place.field(name).index(i), own) ?? [],
    );
  const remove = (name: 'request_headers_to_remove' | 'response_headers_to_remove'): string[] =>
    (message[name] ?? []).flatMap(
      (header, i) => compileRemoval(header, place.field(name).index(i)) ?? [],
    );
  const mutations = {
    request_add: add('request_headers_to_add'),
    request_remove: remove('request_headers_to_remove'),
    response_add: add('response_headers_to_add'),
    response_remove: remove('response_headers_to_remove'),
  };
  return Object.values(mutations).some((list) => list.length > 0) ? mutations : undefined;
}

/** How headers asked for the filter state before there was another way; they still may. */
const STATE = /%PER_REQUEST_STATE\(([^%()]+)\)%/g;

/** How headers asked for metadata: by a list in JSON. */
const LISTED_METADATA = /%(UPSTREAM|DYNAMIC)_METADATA\((\[.+?\])\)%/g;

/** `onOld`: is told of each that is said in words that are deprecated. */
function inNewWords(text: string, onOld: (words: string) => void): string {
  return text
    .replace(STATE, (whole, name: string) => {
      onOld(whole);
      return `%FILTER_STATE(${name}:PLAIN)%`;
    })
    .replace(LISTED_METADATA, (whole, kind: string, list: string) => {
      const keys = listOf(list);
      if (!keys) return whole;
      onOld(whole);
      return `%${kind}_METADATA(${keys.join(':')})%`;
    });
}

/** Undefined: it is none. */
function listOf(json: string): readonly string[] | undefined {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) && list.every((key) => typeof key === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}

/** Pseudo headers and the host are not a configuration's to change. */
export function isModifiable(name: string): boolean {
  return !name.startsWith(':') && name !== 'host';
}

function compileRemoval(header: string, place: Place): string | undefined {
  const name = header.toLowerCase();
  if (isModifiable(name)) return name;
  place.error(':-prefixed or host headers may not be removed');
  return undefined;
}

const ignore = (): void => undefined;

export function compileAddition(
  option: HeaderValueOption,
  place: Place,
  own?: OwnOperators,
): HeaderAddition | undefined {
  refuseOtherFields(place, option, OPTION);
  const header = option.header ?? {};
  const at = place.field('header');
  refuseOtherFields(at, header, HEADER);
  const name = (header.key ?? '').toLowerCase();
  if (!isModifiable(name)) {
    at.field('key').error(':-prefixed or host headers may not be modified');
    return undefined;
  }
  // As in the real server, what `raw_value` says is not what a header gets.
  const text = header.value ?? '';
  const words = inNewWords(text, (old) =>
    at
      .field('value')
      .warnOfDeprecated(`${old} is deprecated`, { expected: inNewWords(old, ignore) }),
  );
  const result = compileFormat(words, 'header', own);
  if ('error' in result) {
    at.field('value').error(result.error, result);
    return undefined;
  }
  const action = compileAction(option, place);
  return action === undefined
    ? undefined
    : { name, value: result.format, action, keep_empty: option.keep_empty_value };
}

function compileAction(option: HeaderValueOption, place: Place): HeaderAddition_Action | undefined {
  const action = option.append_action ?? 'APPEND_IF_EXISTS_OR_ADD';
  if (option.append === undefined) return ACTIONS[action];
  if (action !== 'APPEND_IF_EXISTS_OR_ADD') {
    place.error("Both append and append_action are set and it's not allowed", {
      expected: 'append_action alone',
    });
    return undefined;
  }
  return option.append ? HeaderAddition_Action.APPEND : HeaderAddition_Action.OVERWRITE_OR_ADD;
}
