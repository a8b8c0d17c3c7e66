/** Field names, map keys and list indexes from the root of a message to a value. */
export type FieldPath = readonly (string | number)[];

const IDENTIFIER = /^[A-Za-z_]\w*$/;
const SEGMENT = /\.?([A-Za-z_]\w*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** `static_resources.listeners[0].metadata["envoy.lb"]` */
export function formatPath(path: FieldPath): string {
  let text = '';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (!IDENTIFIER.test(segment)) text += `[${JSON.stringify(segment)}]`;
    else text += text === '' ? segment : `.${segment}`;
  }
  return text;
}

/** What formatPath made text of; stops at what it could not have written. */
export function parsePath(text: string): FieldPath {
  const path: (string | number)[] = [];
  SEGMENT.lastIndex = 0;
  for (let match = SEGMENT.exec(text); match; match = SEGMENT.exec(text)) {
    const [, name, index, quoted] = match;
    if (name !== undefined) path.push(name);
    else if (index !== undefined) path.push(Number(index));
    else path.push(JSON.parse(quoted ?? '""') as string);
  }
  return path;
}
