// What a request's target asks for, spelled in the one way that endpoints and allowed paths know.
// Nothing in it is ever taken for an authority, and nothing that is sent makes this throw.

export interface Target {
  /** As it is looked up. */
  readonly path: string;
  /** As it was sent, without the question mark. */
  readonly query: string;
}

/** Of a target that begins with a slash. */
export function parseTarget(target: string): Target {
  const mark = target.indexOf('?');
  const sent = mark < 0 ? target : target.slice(0, mark);
  return { path: normalizePath(sent), query: mark < 0 ? '' : target.slice(mark + 1) };
}

/** What a path that needs no work has nothing of. */
const IS_ODD = /[%\\"<>`{}^|]|\/[/.]/;
const ESCAPED_IN_PATHS = /["<>`{}^|]/g;

/**
 * As the real server does it, in its order: dots lose their parameters, a backslash is a slash, percent
 * codes of letters, digits and -._~ are what they stand for, dot segments go (RFC 3986 §5.2.4), and
 * slashes in a row are one.
 */
function normalizePath(sent: string): string {
  if (!IS_ODD.test(sent)) return sent;
  const plain = withoutParameters(sent)
    .replaceAll('\\', '/')
    .replace(/%[0-9a-f]{2}/gi, decodeUnreserved)
    .replace(ESCAPED_IN_PATHS, encode);
  return mergeSlashes(removeDotSegments(plain));
}

/** "/..;x/" climbs as "/../" does, spelled with these very characters. */
const withoutParameters = (path: string): string => path.replace(/\/(\.\.?);[^/]*/g, '/$1');

function decodeUnreserved(code: string): string {
  const character = String.fromCharCode(parseInt(code.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : code;
}

function encode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function removeDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    if (segment !== '.' && segment !== '..') {
      kept.push(segment);
      continue;
    }
    if (segment === '..') kept.pop();
    if (index === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}`;
}

/** A path of slashes only keeps two of them. */
function mergeSlashes(path: string): string {
  const merged = path.replace(/\/{2,}/g, '/');
  return merged === '/' && path !== '/' ? '//' : merged;
}
