// Unknown fields, as the real server counts them: of a text that it has some, once; of binary messages each kind that
// has the same ones, however many there are.
import { formatPath, parsePath } from './field-path.js';
import type { Issue } from './issue.js';

/** By kinds. */
export function sortUnknownFields(issues: readonly Issue[]): ReadonlyMap<string, readonly Issue[]> {
  const places = new Map<string, Issue[]>();
  for (const issue of issues) {
    const { position, path, code } = issue;
    // To who reads a text, names of values that there are not are the same.
    if (code !== 'unknown_field' && !(code === 'unknown_value' && position)) continue;
    const place = position ? position.file : formatPath(parsePath(path).slice(0, -1));
    const known = places.get(place);
    if (known) known.push(issue);
    else places.set(place, [issue]);
  }
  const kinds = new Map<string, Issue[]>();
  for (const some of places.values()) {
    const kind = kindOf(some);
    kinds.set(kind, [...(kinds.get(kind) ?? []), ...some]);
  }
  return kinds;
}

function kindOf(issues: readonly Issue[]): string {
  const [{ position, path, message } = { path: '', message: '' }] = issues;
  if (position) return `text ${position.file}`;
  const names = parsePath(path).filter((segment) => typeof segment === 'string');
  const fields = issues.map((issue) => parsePath(issue.path).at(-1));
  return `${names.slice(0, -1).join('.')}: ${message}: ${fields.join()}`;
}

export function countUnknownFields(issues: readonly Issue[]): number {
  return sortUnknownFields(issues).size;
}
