// Templates of paths ("/users/{id}/keys", "/a/*/b/**") as regular expressions.
import type {
  envoy_extensions_path_match_uri_template_v3_UriTemplateMatchConfig as Template,
  envoy_extensions_path_rewrite_uri_template_v3_UriTemplateRewriteConfig as Rewrite,
} from '../../../build/messages.gen.js';
import { compileRegexMatcher, compileRegexRewrite } from './matchers.js';
import type { Place } from '../message/place.js';
import { StringMatch_Kind, type Regex, type RegexRewrite, type StringMatch } from '../plan.gen.js';

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

/** Of the message that says what becomes of such a path. */
export const URI_REWRITE = 'envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig';

/** What a path without its query has to be like; undefined after an error. */
export function compileUriTemplate(message: Template, place: Place): StringMatch | undefined {
  const regex = compileTemplateRegex(message, place);
  return regex && { kind: StringMatch_Kind.REGEX, regex };
}

/** `complaint`: of who has the template, about it. */
export function compileTemplateRegex(
  message: Template,
  place: Place,
  complaint = (template: string): string => `Invalid path template: ${template}`,
): Regex | undefined {
  const at = place.field('path_template');
  const template = message.path_template ?? '';
  const read = readTemplate(template);
  if (read === undefined) {
    at.error(complaint(template), { expected: EXPECTED });
    return undefined;
  }
  return compileRegexMatcher({ regex: read.regex }, at);
}

/** What becomes of a path that fits the template; undefined after an error. */
export function compileTemplateRewrite(
  message: Rewrite,
  match: Template,
  place: Place,
): RegexRewrite | undefined {
  const rewrite = message.path_template_rewrite ?? '';
  const at = place.field('path_template_rewrite');
  // What is wrong with the template is told where it is.
  const template = readTemplate(match.path_template ?? '');
  if (!template) return undefined;
  let substitution = '';
  let rest = rewrite;
  while (rest !== '') {
    const [piece, name] = /^(?:\{([a-zA-Z][a-zA-Z0-9_]{0,15})\}|[^{}]+)/.exec(rest) ?? [];
    if (piece === undefined || !rewrite.startsWith('/') || rewrite.includes('//')) {
      at.error(`path_rewrite_policy.path_template_rewrite ${rewrite} is invalid`, {
        expected: '/ and segments: literals and {name}',
      });
      return undefined;
    }
    if (name !== undefined && !template.names.includes(name)) {
      at.error(
        'mismatch between variables in path_match_policy envoy.path.match.uri_template.uri_template_matcher and path_rewrite_policy envoy.path.rewrite.uri_template.uri_template_rewriter',
        { expected: `variables of the template: ${template.names.join(', ')}` },
      );
      return undefined;
    }
    substitution +=
      name === undefined ? piece.replaceAll('\\', '\\\\') : `\\${template.names.indexOf(name) + 1}`;
    rest = rest.slice(piece.length);
  }
  return compileRegexRewrite({ pattern: { regex: `^${template.regex}$` }, substitution }, at);
}

interface ReadTemplate {
  /** Each variable is a group. */
  readonly regex: string;
  readonly names: readonly string[];
}

/** Undefined: it is no template. */
function readTemplate(template: string): ReadTemplate | undefined {
  if (!template.startsWith('/') || template.includes('//')) return undefined;
  // Nobody could say where the one ends and the next begins.
  if (template.includes('}{')) return undefined;
  const names = new Set<string>();
  let regex = '';
  let rest = template;
  let endsInRest = false;
  while (rest !== '') {
    const [variable, name = '', pattern = '*'] = VARIABLE.exec(rest) ?? [];
    const piece = variable ?? /^(\*\*?|\/|[^/*{}]+)/.exec(rest)?.[0];
    // Nothing follows what takes all of the rest.
    if (piece === undefined || endsInRest) return undefined;
    if (variable !== undefined) {
      if (names.has(name) || names.size >= MAX_VARIABLES) return undefined;
      names.add(name);
    }
    const part = variable === undefined ? partOf(piece) : regexOfPattern(pattern);
    if (part === undefined) return undefined;
    endsInRest = part.endsWith(REST);
    regex += variable === undefined ? part : `(${part})`;
    rest = rest.slice(piece.length);
  }
  return { regex, names: [...names] };
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
