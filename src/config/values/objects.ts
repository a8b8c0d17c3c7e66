// Plain objects that hold what a file says, whatever its keys are called.

export type PlainObject = Record<string, unknown>;

export function isObject(value: unknown): value is PlainObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array)
  );
}

/** Sets an own property, also one called `__proto__`. */
export function setOwn(object: PlainObject, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
}

const LONGEST_EXCERPT = 48;

/** A value as a message names it: `"abc"`, `5`, `a list`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  const text =
    typeof value === 'string' ? JSON.stringify(value) : String(value as number | boolean);
  return text.length <= LONGEST_EXCERPT ? text : `${text.slice(0, LONGEST_EXCERPT)}…`;
}
