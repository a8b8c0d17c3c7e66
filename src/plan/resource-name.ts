// Names of resources and of collections as URLs: xdstp://AUTHORITY/TYPE/ID?CONTEXT. A collection's ID ends
// with "/*", and holds all resources whose IDs have one segment in its place.

export interface ResourceName {
  readonly authority: string;
  /** Of the resource's message. */
  readonly type: string;
  readonly id: string;
  readonly context: ReadonlyMap<string, string>;
}

const PATTERN = /^xdstp:\/\/([^/?#]*)\/([^/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?(?:#.*)?$/;

/** Undefined: it is no such URL. */
export function parseResourceName(text: string): ResourceName | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [, authority = '', type = '', id = '', query = ''] = match;
  const pairs = query.split('&').filter((pair) => pair !== '');
  const context = new Map(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
  return { authority, type, id, context };
}

/** With the context in the order of its names, so that the same is spelled the same. */
export function writeResourceName({ authority, type, id, context }: ResourceName): string {
  const pairs = [...context].sort(([a], [b]) => (a < b ? -1 : 1));
  const query = pairs.map(([name, value]) => `${name}=${value}`).join('&');
  const path = id.split('/').map(respellSegment).join('/');
  return `xdstp://${authority}/${type}/${path}${query === '' ? '' : `?${query}`}`;
}

/** As the real server, which writes `%20` as a blank, and percents only where it must. */
function respellSegment(text: string): string {
  if (!/[^\w.*-]/.test(text)) return text;
  return Buffer.from(text)
    .toString('latin1')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll(
      /[\0-\x1f~-\xff%?#[\]]/g,
      (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
}

/** As writeResourceName; all other names as they are. */
export function canonicalName(text: string): string {
  const name = text.startsWith('xdstp://') ? parseResourceName(text) : undefined;
  return name ? writeResourceName(name) : text;
}

/** The collection that the resource is in; undefined: none. */
export function collectionOf(text: string): string | undefined {
  const name = text.startsWith('xdstp://') ? parseResourceName(text) : undefined;
  if (!name) return undefined;
  const last = name.id.lastIndexOf('/');
  return writeResourceName({ ...name, id: last < 0 ? '*' : `${name.id.slice(0, last)}/*` });
}

/** As a part of a context. */
export const encodeContext = (text: string): string =>
  text.replaceAll(/[%#[\]&=]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
