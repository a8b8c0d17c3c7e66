// YAML in full, by the `yaml` package: for texts that yaml-subset.ts leaves, for the words of an error, and for
// places. The package takes some 50 ms to load and 0.1 ms a line, so it is only loaded when it is needed.
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { setOwn, type PlainObject } from '../objects.js';
import type { ValuePlace } from '../value-position.js';
import type { Fault, ReadResult } from './format.js';
import { resolvePlain } from './yaml-scalar.js';

// Aliases repeat what they name; a few lines of them can name more values than memory holds.
const MOST_VALUES_OF_ALIASES = 1_000_000;

let loaded: typeof Yaml | undefined;
const yaml = (): typeof Yaml => (loaded ??= createRequire(import.meta.url)('yaml') as typeof Yaml);

export function readDocument(text: string): ReadResult {
  return guarded(() => {
    const document = firstDocument(text);
    const contents = document?.contents;
    if (!document || !contents) return { ok: true, value: null };
    return { ok: true, value: new Values(document).valueOf(contents) };
  });
}

/** Places of a text that readDocument could read. */
export function documentPlaces(text: string): ValuePlace | undefined {
  let places: ValuePlace | undefined;
  guarded(() => {
    const document = firstDocument(text);
    if (document?.contents) places = new Places(document).placeOf(document.contents, 0, undefined);
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
    // The package reads nested collections by recursion.
    if (error instanceof RangeError) return fail({ message: 'is nested too deeply', offset: 0 });
    return fail({ message: error instanceof Error ? error.message : String(error), offset: 0 });
  }
}

/** Whatever follows the first document is not looked at, as in the real server. */
function firstDocument(text: string): Yaml.Document.Parsed | undefined {
  const { Composer, Parser } = yaml();
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false, prettyErrors: false });
  for (const document of composer.compose(new Parser().parse(text), true, text.length)) {
    const [error] = document.errors;
    if (error) throw new YamlFault(`is no YAML: ${firstLine(error.message)}`, error.pos[0]);
    return document;
  }
  return undefined;
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

/** Collects plain values. The values that aliases repeat are shared, and counted. */
class Values {
  readonly #document: Yaml.Document.Parsed;
  readonly #anchored = new Map<Yaml.Node, { value: unknown; count: number } | 'open'>();
  #count = 0;
  #aliased = 0;

  constructor(document: Yaml.Document.Parsed) {
    this.#document = document;
  }

  valueOf(node: unknown): unknown {
    const { isAlias, isCollection, isScalar } = yaml();
    this.#count++;
    if (isAlias(node)) return this.#aliasedValue(node);
    if (!isScalar(node) && !isCollection(node)) return null;
    if (!node.anchor) return this.#plainValue(node);
    const before = this.#count;
    this.#anchored.set(node, 'open');
    const value = this.#plainValue(node);
    this.#anchored.set(node, { value, count: this.#count - before + 1 });
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
      const name = keyOf(key, this.#document);
      if (name !== undefined) setOwn(object, name, this.valueOf(value));
    }
    return object;
  }

  #aliasedValue(alias: Yaml.Alias): unknown {
    const node = alias.resolve(this.#document);
    const found = node && this.#anchored.get(node);
    const offset = alias.range?.[0] ?? 0;
    if (found === undefined) throw new YamlFault(`alias *${alias.source} has no anchor`, offset);
    if (found === 'open') throw new YamlFault(`alias *${alias.source} is inside of what it names`, offset);
    this.#count += found.count;
    this.#aliased += found.count;
    if (this.#aliased > MOST_VALUES_OF_ALIASES) {
      throw new YamlFault('aliases repeat more than a million values', offset);
    }
    return found.value;
  }
}

class Places {
  readonly #document: Yaml.Document.Parsed;
  readonly #aliased = new Map<Yaml.Node, ValuePlace>();

  constructor(document: Yaml.Document.Parsed) {
    this.#document = document;
  }

  placeOf(node: unknown, fallback: number, keyOffset: number | undefined): ValuePlace {
    const { isAlias, isMap, isSeq, isNode } = yaml();
    if (!isNode(node)) return { offset: fallback, keyOffset };
    const offset = node.range?.[0] ?? fallback;
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      const shared = target && this.#aliased.get(target);
      return { ...shared, offset, keyOffset };
    }
    const place = isMap(node)
      ? { offset, keyOffset, entries: this.#entries(node) }
      : isSeq(node)
        ? { offset, keyOffset, items: node.items.map((item) => this.placeOf(item, offset, undefined)) }
        : { offset, keyOffset };
    if ('anchor' in node && node.anchor) this.#aliased.set(node, place);
    return place;
  }

  #entries(map: Yaml.YAMLMap): Map<string, ValuePlace> {
    const entries = new Map<string, ValuePlace>();
    for (const { key, value } of map.items) {
      const name = keyOf(key, this.#document);
      const keyOffset = yaml().isNode(key) ? (key.range?.[0] ?? 0) : 0;
      if (name !== undefined) entries.set(name, this.placeOf(value, keyOffset, keyOffset));
    }
    return entries;
  }
}

/** The text of a key; undefined where `!ignore` takes the entry out. */
function keyOf(key: unknown, document: Yaml.Document.Parsed): string | undefined {
  const { isAlias, isNode, isScalar } = yaml();
  const node = isAlias(key) ? key.resolve(document) : key;
  if (!isScalar(node)) {
    if (node === null) return '';
    throw new YamlFault('a key must be a single value', isNode(key) ? (key.range?.[0] ?? 0) : 0);
  }
  if (node.tag === '!ignore') return undefined;
  const text = String(node.value);
  // An empty key and `~` read as this word.
  return node.type === 'PLAIN' && resolvePlain(text) === null ? 'null' : text;
}

/** Quoted and block scalars are text, unless they have a tag of their own. */
function scalarValue(node: Yaml.Scalar): unknown {
  const text = typeof node.value === 'string' ? node.value : String(node.source ?? '');
  if (node.tag === '!') return text;
  const isPlain = node.type === 'PLAIN' || node.tag !== undefined;
  return isPlain ? resolvePlain(text) : text;
}
