// Long JSON, written piece by piece: what is made lazily is made when its turn comes.
import type { Page } from '../native.js';

/** In the place of an entry or an element: none was found so far, and the page may pause. */
export const PAUSE = Symbol('pause');
export type Pause = typeof PAUSE;

export type Entry = readonly [key: string, value: unknown];

/** An object whose values are made one by one. */
export class LazyObject {
  readonly entries: () => Iterable<Entry | Pause>;

  constructor(entries: LazyObject['entries']) {
    this.entries = entries;
  }
}

/** A list whose elements are made one by one. */
export class LazyList {
  readonly items: () => Iterable<unknown>;

  constructor(items: LazyList['items']) {
    this.items = items;
  }
}

const PIECE_CHARACTERS = 64 * 1024;
/** A piece must not keep the control thread longer than this by much: a worker may want its place. */
const PIECE_MS = 0.08;

/** JSON of lazy and plain values, indented by one blank per level, with a newline at its end. */
export function jsonPage(value: unknown): Page {
  const texts = textsOf(value, '');
  let isDone = false;
  return {
    next: () => {
      if (isDone) return null;
      const deadline = performance.now() + PIECE_MS;
      let piece = '';
      while (piece.length < PIECE_CHARACTERS && performance.now() < deadline) {
        const { value: text, done } = texts.next();
        if (done) {
          isDone = true;
          piece += '\n';
          break;
        }
        piece += text;
      }
      return Buffer.from(piece);
    },
  };
}

function* textsOf(value: unknown, indent: string): Generator<string, void> {
  const inner = `${indent} `;
  if (value instanceof LazyObject) {
    let count = 0;
    for (const entry of value.entries()) {
      if (entry === PAUSE) {
        yield '';
        continue;
      }
      const [key, item] = entry;
      yield `${count++ === 0 ? '{' : ','}\n${inner}${escaped(JSON.stringify(key))}: `;
      yield* textsOf(item, inner);
    }
    yield count === 0 ? '{}' : `\n${indent}}`;
  } else if (value instanceof LazyList) {
    let count = 0;
    for (const item of value.items()) {
      if (item === PAUSE) {
        yield '';
        continue;
      }
      yield `${count++ === 0 ? '[' : ','}\n${inner}`;
      yield* textsOf(item, inner);
    }
    yield count === 0 ? '[]' : `\n${indent}]`;
  } else {
    yield escaped(JSON.stringify(value, null, 1)).replaceAll('\n', `\n${indent}`);
  }
}

/** Brackets are escaped, as the real server does: the text is then safe inside of HTML. */
function escaped(json: string): string {
  return json.replace(/[<>]/g, (bracket) => (bracket === '<' ? '\\u003c' : '\\u003e'));
}
