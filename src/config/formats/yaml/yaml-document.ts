// YAML in full, by the `yaml` package: for texts that yaml-subset.ts leaves, for the words of an
// error, and for places. The package takes some 50 ms to load and 0.1 ms a line, so it is only
// loaded when it is needed.
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { setOwn, type PlainObject } from '../../values/objects.js';
import type { ValuePlace } from '../../issues/value-position.js';
import type { Fault, ReadResult } from '../format.js';
import { joinLines } from './yaml-lines.js';
import { resolvePlain } from './yaml-scalar.js';

// Aliases repeat what they name; a few lines of them can name more values than memory holds.
const MOST_VALUES_OF_ALIASES = 1_000_000;

const SINGLE_KEY = 'a key must be a single value';

let loaded: typeof Yaml | undefined;
const yaml = (): typeof Yaml => (loaded ??= createRequire(import.meta.url)('yaml') as typeof Yaml);

export function readDocument(text: string): ReadResult {
  return guarded(() => {
    const document = firstDocument(text);
    const [error] = document?.errors ?? [];
    if (error) {
      const line = text.slice(0, error.pos[0]).split('\n').length;
      const what = `is no YAML from line ${line} on: ${firstLine(error.message)}`;
      throw new YamlFault(what, error.pos[0]);
    }
    return { ok: true, value: new Values().valueOf(document?.contents) };
  });
}

/**
 * Places of a text that could be read; of one that yaml-subset.ts read though the package finds
 * fault with it, too.
 */
export function documentPlaces(text: string): ValuePlace | undefined {
  let places: ValuePlace | undefined;
  guarded(() => {
    const document = firstDocument(text);
    if (document?.contents) places = new Places().placeOf(document.contents, 0, undefined);
    return { ok: true, value: null };
  });
  return places;
}

class YamlFault extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

function guarded(read: () => ReadResult): ReadResult {
  const fail = (fault: Fault): ReadResult => ({ ok: false, fault });
  try {
    return read();
  } catch (error) {
    if (error instanceof YamlFault) return fail({ message: error.message, offset: error.offset });
    return fail({ message: error instanceof Error ? error.message : String(error), offset: 0 });
  }
}

// The package reads by recursion and ends the process where the stack does: V8 cannot compile a
// regular expression there. A bootstrap is some thirty levels deep.
const DEEPEST = 200;

/** Before anything is read: whether collections are nested deeper than that. */
function isTooDeep(text: string): boolean {
  const { CST, Lexer } = yaml();
  // Of the collections that are open, the columns where their lines or indicators begin.
  const columns: number[] = [];
  let flows = 0;
  let column = 0;
  let isLineStart = true;
  let isContent = false;
  for (const token of new Lexer().lex(text)) {
    const type: Yaml.CST.TokenType | null = isContent ? null : CST.tokenType(token);
    if (type === 'flow-map-start' || type === 'flow-seq-start') flows++;
    if (type === 'flow-map-end' || type === 'flow-seq-end') flows--;
    const isBlank = type === 'space' || type === 'newline' || type === 'comment';
    const isIndicator = type === 'seq-item-ind' || type === 'explicit-key-ind';
    if (flows === 0 && (isIndicator || (isLineStart && !isBlank))) {
      while ((columns.at(-1) ?? -1) >= column) columns.pop();
      columns.push(column);
    }
    if (columns.length + flows > DEEPEST) return true;
    // The token that only says that the text of a scalar is next, and those that say where
    // documents begin.
    isContent = type === 'scalar';
    if (isContent || type === 'doc-mode' || type === 'flow-error-end') continue;
    const newline = token.lastIndexOf('\n');
    column = newline < 0 ? column + token.length : token.length - newline - 1;
    isLineStart = newline >= 0 || (isLineStart && type === 'space');
  }
  return false;
}

function firstDocument(text: string): Yaml.Document.Parsed | undefined {
  if (isTooDeep(text)) throw new YamlFault('is nested too deeply', 0);
  const document = compose(text);
  if (!document?.errors.length) return document;
  const joined = joinLines(text);
  const again = joined === text || isTooDeep(joined) ? undefined : compose(joined);
  return again && again.errors.length === 0 ? again : document;
}

/** Whatever follows the first document is not looked at, as in the real server. */
function compose(text: string): Yaml.Document.Parsed | undefined {
  const { Composer, Parser } = yaml();
  const composer = new Composer({
    schema: 'failsafe',
    uniqueKeys: false,
    prettyErrors: false,
    strict: false,
  });
  for (const document of composer.compose(new Parser().parse(text), true, text.length)) {
    return document;
  }
  return undefined;
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

/** Collects plain values. The values that aliases repeat are shared, and counted. */
class Values {
  /** By name, the latest of each; `open` while its own values are being read. */
  readonly #anchors = new Map<
    string,
    { readonly value: unknown; readonly count: number } | 'open'
  >();
  #count = 0;
  #aliased = 0;

  valueOf(node: unknown): unknown {
    const { isAlias, isCollection, isScalar } = yaml();
    this.#count++;
    if (isAlias(node)) return this.#aliasedValue(node);
    if (!isScalar(node) && !isCollection(node)) return null;
    if (!node.anchor) return this.#plainValue(node);
    const before = this.#count;
    this.#anchors.set(node.anchor, 'open');
    const value = this.#plainValue(node);
    this.#anchors.set(node.anchor, { value, count: this.#count - before + 1 });
    return value;
  }

  #plainValue(node: Yaml.Node): unknown {
    const { isMap, isSeq, isScalar } = yaml();
    if (isMap(node)) return this.#mapping(node);
    if (isSeq(node)) return node.items.map((item) => this.valueOf(item));
    return isScalar(node) ? scalarValue(node) : null;
  }

  #mapping(map: Yaml.YAMLMap): PlainObject {
    const object: PlainObject = {};
    for (const { key, value } of map.items) {
      const name = this.#keyOf(key);
      // What `!ignore` takes out may have anchors that others use.
      const item = this.valueOf(value);
      if (name !== undefined) setOwn(object, name, item);
    }
    return object;
  }

  #keyOf(key: unknown): string | undefined {
    const { isAlias, isScalar } = yaml();
    if (isAlias(key)) {
      const value = this.#aliasedValue(key);
      if (typeof value === 'object') throw new YamlFault(SINGLE_KEY, key.range?.[0] ?? 0);
      return String(value);
    }
    const text = keyText(key);
    if (isScalar(key) && key.anchor) this.#anchors.set(key.anchor, { value: text, count: 1 });
    return text;
  }

  #aliasedValue(alias: Yaml.Alias): unknown {
    const found = this.#anchors.get(alias.source);
    const offset = alias.range?.[0] ?? 0;
    if (found === undefined) throw new YamlFault(`alias *${alias.source} has no anchor`, offset);
    if (found === 'open')
      throw new YamlFault(`alias *${alias.source} is inside of what it names`, offset);
    this.#count += found.count;
    this.#aliased += found.count;
    if (this.#aliased > MOST_VALUES_OF_ALIASES) {
      throw new YamlFault('aliases repeat more than a million values', offset);
    }
    return found.value;
  }
}

class Places {
  readonly #anchors = new Map<string, ValuePlace>();

  placeOf(node: unknown, fallback: number, keyOffset: number | undefined): ValuePlace {
    const { isAlias, isMap, isSeq, isNode } = yaml();
    if (!isNode(node)) return { offset: fallback, keyOffset };
    const offset = node.range?.[0] ?? fallback;
    if (isAlias(node)) {
      return { ...this.#anchors.get(node.source), offset, keyOffset };
    }
    const place = isMap(node)
      ? { offset, keyOffset, entries: this.#entries(node) }
      : isSeq(node)
        ? {
            offset,
            keyOffset,
            items: node.items.map((item) => this.placeOf(item, offset, undefined)),
          }
        : { offset, keyOffset };
    if ('anchor' in node && node.anchor) this.#anchors.set(node.anchor, place);
    return place;
  }

  #entries(map: Yaml.YAMLMap): Map<string, ValuePlace> {
    const entries = new Map<string, ValuePlace>();
    for (const { key, value } of map.items) {
      const { isAlias, isNode } = yaml();
      const name = isAlias(key) ? key.source : keyText(key);
      const keyOffset = isNode(key) ? (key.range?.[0] ?? 0) : 0;
      const place = this.placeOf(value, keyOffset, keyOffset);
      if (name !== undefined) entries.set(name, place);
    }
    return entries;
  }
}

/** The text of a key; undefined where `!ignore` takes the entry out. */
function keyText(key: unknown): string | undefined {
  const { isNode, isScalar } = yaml();
  if (!isScalar(key)) {
    if (isNode(key)) throw new YamlFault(SINGLE_KEY, key.range?.[0] ?? 0);
    return 'null';
  }
  if (key.tag === '!ignore') return undefined;
  const text = String(key.value);
  // An empty key and `~` read as this word.
  return key.type === 'PLAIN' && resolvePlain(text) === null ? 'null' : text;
}

/** Quoted and block scalars are text, unless they have a tag of their own. */
function scalarValue(node: Yaml.Scalar): unknown {
  const text = typeof node.value === 'string' ? node.value : String(node.source ?? '');
  if (node.tag === '!') return text;
  const isPlain = node.type === 'PLAIN' || node.tag !== undefined;
  return isPlain ? resolvePlain(text) : text;
}
