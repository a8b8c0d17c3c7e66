// The parameters of a query or of a form: percent signs decode, "+" stays, the first value of a name counts.

export type Parameters = ReadonlyMap<string, string>;

export function parseParameters(text: string): Parameters {
  const parameters = new Map<string, string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (!parameters.has(name))
      parameters.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)));
  }
  return parameters;
}

/** Bytes that are no UTF-8 become U+FFFD; a percent sign without two digits stays. */
function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, (codes) =>
      Buffer.from(codes.replaceAll('%', ''), 'hex').toString(),
    );
  }
}
