// What is thrown, as entries of the log: one, or one for each frame of its stack.

/** `isSingleEntry`: --log-stacktrace-single-entry. */
export function stackEntries(thrown: unknown, isSingleEntry: boolean): readonly string[] {
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return isSingleEntry ? [text] : text.split('\n').map((line) => line.trim());
}
