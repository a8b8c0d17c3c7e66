// What may have to be waited for, or not: most of it is there at once.

export type Maybe<T> = T | Promise<T>;

/** At once where the value is there; otherwise when it has come. */
export function after<A, B>(value: Maybe<A>, next: (value: A) => Maybe<B>): Maybe<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}
