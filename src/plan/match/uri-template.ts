// Templates of paths ("/users/{id}/keys", "/a/*/b/**") as regular expressions.
import type { envoy_extensions_path_match_uri_template_v3_UriTemplateMatchConfig as Template } from '../../../build/messages.gen.js';
import { compileRegexMatcher } from './matchers.js';
import type { Place } from '../message/place.js';
import { StringMatch_Kind, type StringMatch } from '../plan.gen.js';

/** Of the message that has a template. */
export const URI_TEMPLATE = 'envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig';

/** What a segment may be made of. */
const CHARACTERS = "a-zA-Z0-9\\-._~%!$&'()+,;:@=";
const SEGMENT = `[${CHARACTERS}]+`;
const REST = `[${CHARACTERS}/]*`;
const LITERAL = new RegExp(`^[${CHARACTERS}]*$`);
const VARIABLE = /^\{([a-zA-Z][a-zA-Z0-9_]{0,15})(?:=([^{}]*))?\}/;
const MAX_VARIABLES = 5;
const EXPECTED = '/ and segments: literals, *, ** at the end, {name}, {name=pattern}';

/** What a path without its query has to be like; undefined after an error. */
export function compileUriTemplate(message: Template, place: Place): StringMatch | undefined {
  const at = place.field('path_template');
  const template = message.path_template ?? '';
  const read = regexOf(template);
  if (read === undefined) {
    at.error(`Invalid path template: ${template}`, { expected: EXPECTED });
    return undefined;
  }
  const regex = compileRegexMatcher({ regex: read }, at);
  return regex && { kind: StringMatch_Kind.REGEX, regex };
}

/** Undefined: it is no template. */
function regexOf(template: string): string | undefined {
  if (!template.startsWith('/')) return undefined;
  const names = new Set<string>();
  let regex = '';
  let rest = template;
  while (rest !== '') {
    const [variable, name = '', pattern = '*'] = VARIABLE.exec(rest) ?? [];
    const piece = variable ?? /^(\*\*?|\/|[^/*{}]+)/.exec(rest)?.[0];
    // Nothing follows what takes all of the rest.
    if (piece === undefined || regex.endsWith(REST)) return undefined;
    if (variable !== undefined) {
      if (names.has(name) || names.size >= MAX_VARIABLES) return undefined;
      names.add(name);
    }
    const part = variable === undefined ? partOf(piece) : regexOfPattern(pattern);
    if (part === undefined) return undefined;
    regex += part;
    rest = rest.slice(piece.length);
  }
  return regex;
}

function regexOfPattern(pattern: string): string | undefined {
  let regex = '';
  for (const piece of pattern.match(/\*\*?|\/|[^/*]+/g) ?? []) {
    const part = partOf(piece);
    if (part === undefined || regex.endsWith(REST)) return undefined;
    regex += part;
  }
  return regex === '' ? undefined : regex;
}

function partOf(piece: string): string | undefined {
  if (piece === '**') return REST;
  if (piece === '*') return SEGMENT;
  if (piece === '/') return '/';
  return LITERAL.test(piece) ? piece.replaceAll(/[.$()+]/g, '\\$&') : undefined;
}
