// One message of a v2 bootstrap while it is rewritten, and the record of what moved.
import { formatPath, type FieldPath } from '../issues/field-path.js';
import { isObject, setOwn, type PlainObject } from '../values/objects.js';

/** One thing that was upgraded. */
export interface Rewrite {
  /** The message, in v3's names. */
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

interface Move {
  readonly site: FieldPath;
  readonly from: FieldPath;
  readonly toLength: number;
}

/** Everything that was rewritten, and where it stood before. */
export class UpgradeLog {
  readonly rewrites: Rewrite[] = [];
  readonly problems: { readonly path: FieldPath; readonly message: string }[] = [];
  readonly #moves = new Map<string, Move>();

  moved(site: FieldPath, from: FieldPath, to: FieldPath): void {
    this.#moves.set(formatPath([...site, ...to]), { site, from, toLength: to.length });
  }

  /** Where the value of a v3 path stands in the source. */
  originOf(path: FieldPath): FieldPath {
    for (let length = path.length; length > 0 && this.#moves.size > 0; length--) {
      const move = this.#moves.get(formatPath(path.slice(0, length)));
      if (move) {
        const rest = path.slice(move.site.length + move.toLength);
        return [...this.originOf(move.site), ...move.from, ...rest];
      }
    }
    return path;
  }
}

export class Site {
  constructor(
    readonly object: PlainObject,
    readonly path: FieldPath,
    readonly log: UpgradeLog,
  ) {}

  /** Of a field in either spelling of its name. */
  get(name: string): unknown {
    return this.object[this.#keyOf(name)];
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  take(name: string): unknown {
    const key = this.#keyOf(name);
    const value = this.object[key];
    delete this.object[key];
    return value;
  }

  /** Sets a value at a path below; whatever is missing on the way is made. */
  put(to: FieldPath, value: unknown, from: FieldPath): void {
    this.log.moved(this.path, from, to);
    let holder: PlainObject | unknown[] = this.object;
    to.forEach((segment, index) => {
      const next = to[index + 1];
      const isLast = next === undefined;
      const present: unknown = Array.isArray(holder) ? holder[segment as number] : holder[segment];
      const inner = isLast ? value : (present ?? (typeof next === 'number' ? [] : {}));
      if (Array.isArray(holder)) holder[segment as number] = inner;
      else setOwn(holder, String(segment), inner);
      if (!isLast) holder = inner as PlainObject | unknown[];
    });
  }

  /** Moves a field, changed by `change`, to a path below; nothing where it is unset. */
  move(from: string, to: FieldPath, change: (value: unknown) => unknown = (value) => value): void {
    if (!this.has(from)) return;
    this.put(to, change(this.take(from)), [from]);
    this.note(from, formatPath(to));
  }

  /** Moves each element of a list to the element of the same index of another. */
  moveItems(from: string, list: FieldPath, below: FieldPath): void {
    if (!this.has(from)) return;
    const items = listOf(this.take(from));
    items.forEach((item, index) => this.put([...list, index, ...below], item, [from, index]));
    this.log.moved(this.path, [from], list);
    this.note(from, formatPath(list));
  }

  drop(from: string, why: string): void {
    if (!this.has(from)) return;
    this.take(from);
    this.note(from, why);
  }

  note(from: string, to: string): void {
    this.log.rewrites.push({ path: formatPath(this.path), from, to });
  }

  /** Names what has no counterpart in v3. */
  refuse(name: string, message: string): void {
    this.take(name);
    this.log.problems.push({ path: [...this.path, name], message });
  }

  #keyOf(name: string): string {
    if (name in this.object) return name;
    const camel = name.replace(/_+(.)/g, (_, letter: string) => letter.toUpperCase());
    return camel in this.object ? camel : name;
  }
}

export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [value];

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const objectOf = (value: unknown): PlainObject => (isObject(value) ? value : {});
