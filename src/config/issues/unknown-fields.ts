// How many unknown fields server.static_unknown_fields counts: as the real server, which says of a text
// that it has some, once, and of binary messages each that has some.
import { formatPath, parsePath } from './field-path.js';
import type { Issue } from './issue.js';

export function countUnknownFields(issues: readonly Issue[]): number {
  const places = issues
    .filter(({ code }) => code === 'unknown_field')
    .map(({ position, path }) =>
      position ? `text ${position.file}` : `message ${formatPath(parsePath(path).slice(0, -1))}`,
    );
  return new Set(places).size;
}
