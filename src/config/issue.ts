// What is wrong with a configuration: where, what, what was expected, and the nearest valid name.

/** A place in a file; lines and columns start at 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The keys and indices that lead to a value, as they were written. */
export type Path = readonly (string | number)[];

export interface Issue {
  readonly severity: 'error' | 'warning';
  /** "static_resources.listeners[0].name"; empty for the whole document. */
  readonly path: string;
  readonly message: string;
  readonly expected?: string;
  /** The nearest valid name. */
  readonly suggestion?: string;
  readonly position?: Position;
}

export function formatPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/** One line: "bootstrap.yaml:3:5: admin.adress: unknown field; did you mean "address"?" */
export function formatIssue(issue: Issue): string {
  const { position } = issue;
  const place = position ? `${position.file}:${position.line}:${position.column}: ` : '';
  const path = issue.path === '' ? '' : `${issue.path}: `;
  const expected = issue.expected === undefined ? '' : `; expected ${issue.expected}`;
  const suggestion = issue.suggestion === undefined ? '' : `; did you mean "${issue.suggestion}"?`;
  return `${place}${path}${issue.message}${expected}${suggestion}`;
}
