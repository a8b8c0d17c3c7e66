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

/** What paths that are taken may be made of. */
const CHARACTERS = "a-zA-Z0-9\\-._~%!$&'()+,;:@=*";
const SEGMENT = `[${CHARACTERS}]+`;
const REST = `[${CHARACTERS}/]*`;
/** A star that does not begin a segment says of what is before it how often it may stand there. */
const LITERAL = new RegExp(`^[${CHARACTERS}]+$`);
const REWRITE_LITERAL = new RegExp(`^[${CHARACTERS}/]+$`);
const NAME = /^[a-zA-Z][a-zA-Z0-9_]{0,15}$/;
const MAX_VARIABLES = 5;
const EXPECTED = '/ and segments: literals, *, ** with no such behind it, {name}, {name=pattern}';
/** No text is such. */
const NOTHING = '[^\\s\\S]';

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
    const isBad = name === undefined && !REWRITE_LITERAL.test(piece ?? '');
    if (piece === undefined || isBad || !rewrite.startsWith('/') || rewrite.includes('//')) {
      at.error(`path_rewrite_policy.path_template_rewrite ${rewrite} is invalid`, {
        expected: '/ and segments: literals and {name}',
      });
      return undefined;
    }
    if (name !== undefined && !template.names.includes(name)) {
      at.error(
        `mismatch between variables in path_match_policy ${match.path_template ?? ''} and path_rewrite_policy ${rewrite}`,
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
  if (!/^\/[\x21-\x7e]*$/.test(template)) return undefined;
  const reader = new TemplateReader(template.slice(1));
  const pieces = reader.pieces();
  if (pieces === undefined) return undefined;
  const regex = `/${pieces}`;
  const names = [...reader.names];
  // "How often" of "how often" is no expression: such a template is taken, and no path is like it.
  if (!regex.includes('**')) return { regex, names };
  return { regex: NOTHING + regex.replaceAll(/\*{2,}/g, '*'), names };
}

/** Reads what is behind the first slash, segment by segment. */
class TemplateReader {
  readonly names = new Set<string>();
  #hasRest = false;

  constructor(private rest: string) {}

  /** As an expression; undefined: it is no template. */
  pieces(): string | undefined {
    let regex = '';
    while (this.rest !== '') {
      const segment = this.#segment();
      if (segment === undefined) return undefined;
      regex += segment;
      if (this.rest === '') break;
      // Only a segment that begins with a star leaves something behind itself: it is the last one.
      if (!this.rest.startsWith('/')) return undefined;
      this.#take('/');
      regex += '/';
    }
    return regex;
  }

  #segment(): string | undefined {
    const stars = /^\*\*?/.exec(this.rest)?.[0];
    if (stars !== undefined) {
      this.#take(stars);
      const glob = this.#glob(stars);
      if (this.rest === '' || this.rest.startsWith('/')) return glob;
      const suffix = literal(this.rest);
      this.rest = '';
      return glob === undefined || suffix === undefined ? undefined : glob + suffix;
    }
    // A variable at the begin may have slashes within it, one behind a literal has none.
    const scope = this.rest.startsWith('{') ? this.rest : this.#text();
    const variable = /^([^{]*)\{([^}]*)\}/.exec(scope);
    if (variable === null) return literal(this.#take(this.#text()));
    const [whole, prefix = '', inside = ''] = variable;
    this.#take(whole);
    const group = this.#variable(inside);
    const suffix = this.#take(this.#text());
    const before = prefix === '' ? '' : literal(prefix);
    const behind = suffix === '' ? '' : literal(suffix);
    if (before === undefined || group === undefined || behind === undefined) return undefined;
    return `${before}(${group})${behind}`;
  }

  #variable(inside: string): string | undefined {
    const [, name = '', pattern] = /^([^=]*)(?:=(.*))?$/.exec(inside) ?? [];
    if (!NAME.test(name) || this.names.has(name) || this.names.size >= MAX_VARIABLES) {
      return undefined;
    }
    this.names.add(name);
    const parts = (pattern ?? '*')
      .split('/')
      .map((part) => (part === '*' || part === '**' ? this.#glob(part) : literal(part, false)));
    return parts.includes(undefined) ? undefined : parts.join('/');
  }

  /** Undefined: nothing that takes any text follows what takes all of the rest. */
  #glob(stars: string): string | undefined {
    if (this.#hasRest) return undefined;
    this.#hasRest = stars === '**';
    return this.#hasRest ? REST : SEGMENT;
  }

  /** What is left of this segment. */
  #text(): string {
    return this.rest.slice(0, (this.rest + '/').indexOf('/'));
  }

  #take(text: string): string {
    this.rest = this.rest.slice(text.length);
    return text;
  }
}

function literal(text: string, mayBeginWithStar = true): string | undefined {
  if (!LITERAL.test(text) || (!mayBeginWithStar && text.startsWith('*'))) return undefined;
  return text.replaceAll(/[.$()+]/g, '\\$&');
}
