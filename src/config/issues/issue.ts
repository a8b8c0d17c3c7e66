/** Where something stands in a source; line and column count from 1, a column is a UTF-16 unit. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong, or doubtful, in a configuration. */
export interface Issue {
  readonly severity: 'error' | 'warning';
  /** The field, as `static_resources.listeners[0].name`; empty for the whole document. */
  readonly path: string;
  readonly message: string;
  readonly expected?: string;
  readonly suggestion?: string;
  readonly position?: Position;
  /** What the reader sees instead of the path, where the position says the rest. */
  readonly shownPath?: string;
  /** The other place that has to do with it, such as the first of two equal names. */
  readonly related?: { readonly path: string; readonly position?: Position | undefined };
  /** For those who count or allow one kind. */
  readonly code?:
    'unknown_field' | 'unknown_value' | 'unknown_type' | 'deprecated_field' | 'deprecated_value';
}

/** `file:line:column: field.path: message; expected …; did you mean "…"?` */
export function formatIssue(issue: Issue): string {
  let text = issue.message;
  if (issue.expected !== undefined) text += `; expected ${issue.expected}`;
  if (issue.suggestion !== undefined) text += `; did you mean "${issue.suggestion}"?`;
  if (issue.related) {
    const { path, position } = issue.related;
    text += `; see ${path}${position ? ` at ${formatPosition(position)}` : ''}`;
  }
  const path = issue.position ? (issue.shownPath ?? issue.path) : issue.path;
  if (path !== '') text = `${path}: ${text}`;
  return oneLine(issue.position ? `${formatPosition(issue.position)}: ${text}` : text);
}

/** What a file quotes must neither break a line nor steer a terminal. */
const oneLine = (text: string): string =>
  text.replace(/[\0-\x1f\x7f]/g, (character) => {
    const quoted = JSON.stringify(character).slice(1, -1);
    return quoted === character ? '\\u007f' : quoted;
  });

const formatPosition = ({ file, line, column }: Position): string => `${file}:${line}:${column}`;

/**
 * By source, line and column; issues without a place stay last, those at one place in their order.
 */
export function inDocumentOrder(issues: readonly Issue[], files: readonly string[]): Issue[] {
  const rank = ({ position }: Issue) => (position ? files.indexOf(position.file) : files.length);
  return issues.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      (a.position?.line ?? 0) - (b.position?.line ?? 0) ||
      (a.position?.column ?? 0) - (b.position?.column ?? 0),
  );
}
