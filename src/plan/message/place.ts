// Where in a configuration a compile function stands: names its field paths and keeps what it finds
// wrong. The path is only spelled out when something is.
import type { Issue } from '../../config/issues/issue.js';

/** What helps a person after "this is wrong". */
export interface Hint {
  readonly expected?: string | undefined;
  /** The nearest name that would have been right. */
  readonly suggestion?: string | undefined;
  /** The other place that has to do with it. */
  readonly related?: Place | undefined;
}

/** What can be asked of the runtime, as it is now. */
export interface RuntimeNumbers {
  numberAnew(key: string, fallback: number): number;
}

export class Place {
  readonly #issues: Issue[];
  readonly #parent: Place | undefined;
  readonly #segment: string;
  /** The message of the extension that this is part of. */
  readonly extension: string | undefined;
  /** For all below, unless they have one themselves. */
  readonly #runtime: RuntimeNumbers | undefined;

  private constructor(
    issues: Issue[],
    parent: Place | undefined,
    segment: string,
    extension = parent?.extension,
    runtime?: RuntimeNumbers,
  ) {
    this.#issues = issues;
    this.#parent = parent;
    this.#segment = segment;
    this.extension = extension;
    this.#runtime = runtime;
  }

  /** The message itself; what is wrong below it goes to `issues`. */
  static root(issues: Issue[]): Place {
    return new Place(issues, undefined, '');
  }

  field(name: string): Place {
    return new Place(this.#issues, this, name);
  }

  /** The entry of a map. */
  key(key: string): Place {
    return new Place(this.#issues, this, `[${JSON.stringify(key)}]`);
  }

  index(index: number): Place {
    return new Place(this.#issues, this, `[${index}]`);
  }

  /** The same place, as one of an extension. */
  within(extension: string): Place {
    return new Place(this.#issues, this.#parent, this.#segment, extension, this.#runtime);
  }

  /** The same place, where the runtime says how much is allowed. */
  reading(runtime: RuntimeNumbers): Place {
    return new Place(this.#issues, this.#parent, this.#segment, this.extension, runtime);
  }

  /** What the runtime has for a key, where it is known here. */
  runtimeNumber(key: string, fallback: number): number {
    const runtime = this.#runtime;
    if (runtime) return runtime.numberAnew(key, fallback);
    return this.#parent?.runtimeNumber(key, fallback) ?? fallback;
  }

  /** "static_resources.listeners[0].name" */
  get path(): string {
    const above = this.#parent?.path ?? '';
    return above === '' || this.#segment.startsWith('[')
      ? above + this.#segment
      : `${above}.${this.#segment}`;
  }

  /** The configuration must not be used. */
  error(message: string, hint: Hint = {}): void {
    this.#add('error', message, hint);
  }

  /** The configuration works, though hardly as it was meant. */
  warn(message: string, hint: Hint = {}): void {
    this.#add('warning', message, hint);
  }

  /** It works, and counts as a use of what is deprecated: no field is, but a value, or that there is none. */
  warnOfDeprecated(message: string, hint: Hint = {}): void {
    this.#add('warning', message, hint, 'deprecated_value');
  }

  #add(
    severity: 'error' | 'warning',
    message: string,
    hint: Hint,
    code?: 'deprecated_value',
  ): void {
    this.#issues.push({
      severity,
      path: this.path,
      message,
      ...(hint.expected !== undefined && { expected: hint.expected }),
      ...(hint.suggestion !== undefined && { suggestion: hint.suggestion }),
      ...(hint.related && { related: { path: hint.related.path } }),
      ...(code && { code }),
    });
  }
}
