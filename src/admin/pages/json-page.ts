// Long JSON, written piece by piece: what is made lazily is made when its turn comes.
import type { Page } from '../../native-stats.js';
import { indentedJson, newLine, quoted } from '../../base/json-text.js';

/** In the place of an entry or an element: none was found so far, and the page may pause. */
export const PAUSE = Symbol('pause');
export type Pause = typeof PAUSE;

export type Entry = readonly [key: string, value: unknown];

/** An object whose values are made one by one. */
export class LazyObject {
  /** Of the depth of their lines. */
  readonly entries: (depth: number) => Iterable<Entry | Pause>;

  constructor(entries: LazyObject['entries']) {
    this.entries = entries;
  }
}

/** A list whose elements are made one by one. */
export class LazyList {
  /** Of the depth of their lines. */
  readonly items: (depth: number) => Iterable<unknown>;

  constructor(items: LazyList['items']) {
    this.items = items;
  }
}

/** A value that was written for the depth at which it stands. */
export class WrittenJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const PIECE_CHARACTERS = 64 * 1024;
/** A piece must not keep the control thread longer than this by much: a worker may want its place. */
const PIECE_MS = 0.04;

/** JSON of lazy and plain values, with a newline at its end. */
export function jsonPage(value: unknown): Page {
  const texts = textsOf(value, 0);
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

function* textsOf(value: unknown, depth: number): Generator<string, void> {
  const inner = depth + 1;
  if (value instanceof WrittenJson) {
    yield value.text;
  } else if (value instanceof LazyObject) {
    let count = 0;
    for (const entry of value.entries(inner)) {
      if (entry === PAUSE) {
        yield '';
        continue;
      }
      const [key, item] = entry;
      yield `${count++ === 0 ? '{' : ','}${newLine(inner)}${quoted(key)}: `;
      yield* textsOf(item, inner);
    }
    yield count === 0 ? '{}' : `${newLine(depth)}}`;
  } else if (value instanceof LazyList) {
    let count = 0;
    for (const item of value.items(inner)) {
      if (item === PAUSE) {
        yield '';
        continue;
      }
      yield `${count++ === 0 ? '[' : ','}${newLine(inner)}`;
      yield* textsOf(item, inner);
    }
    yield count === 0 ? '[]' : `${newLine(depth)}]`;
  } else {
    yield indentedJson(value, depth);
  }
}
