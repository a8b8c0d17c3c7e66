// The parameters of a query or of a form: percent signs decode, "+" stays, the first value of a name counts.

export type Parameters = ReadonlyMap<string, string>;

export function parseParameters(...texts: readonly string[]): Parameters {
  const parameters = new Map<string, string>();
  for (const pair of texts.flatMap((text) => text.split('&'))) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (!parameters.has(name))
      parameters.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)));
  }
  return parameters;
}

/** What is no percent code of UTF-8 stays as it is. */
function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%[0-7][0-9a-f]/gi, (code) => decodeURIComponent(code));
  }
}
