/** A text that two decoded messages share if they say the same, in whatever order. */
export function messageKey(message: unknown): string {
  return JSON.stringify(message, (_, value: unknown) => {
    const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isPlain) return value;
    return Object.fromEntries(
      Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
  });
}
