// Templates of paths in rules of google.api.http: "/shelves/{shelf.id=*}/books/**:archive".

export interface PathTemplate {
  /** Literals, "*" and "**". */
  readonly segments: readonly string[];
  readonly verb: string;
  readonly variables: readonly PathVariable[];
}

export interface PathVariable {
  readonly fieldPath: readonly string[];
  readonly first: number;
  /** Behind its last segment; where "**" is in it, counted from the path's end: -1 is that. */
  readonly end: number;
}

/** Undefined: it is none. */
export function parsePathTemplate(text: string): PathTemplate | undefined {
  if (text === '/') return { segments: [], verb: '', variables: [] };
  const parser = new Parser(text);
  const template = parser.parse();
  return template && areLiteralsBehindAny(template.segments) ? template : undefined;
}

/** Only literals may follow "**". */
function areLiteralsBehindAny(segments: readonly string[]): boolean {
  const any = segments.indexOf('**');
  return any < 0 || segments.slice(any + 1).every((segment) => !/^\*\*?$/.test(segment));
}

class Parser {
  readonly #text: string;
  readonly #segments: string[] = [];
  readonly #variables: PathVariable[] = [];
  #at = 0;
  #inVariable = false;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): PathTemplate | undefined {
    if (!this.#take('/') || !this.#parseSegments()) return undefined;
    const verb = this.#take(':') ? this.#literal() : '';
    if (verb === undefined || this.#at < this.#text.length) return undefined;
    const segments = this.#segments;
    const variables = this.#variables.map((variable) => {
      const isLong = segments.slice(variable.first, variable.end).includes('**');
      return isLong ? { ...variable, end: variable.end - segments.length - 1 } : variable;
    });
    return { segments, verb, variables };
  }

  #take(literal: string): boolean {
    const found = this.#text.startsWith(literal, this.#at);
    if (found) this.#at += literal.length;
    return found;
  }

  #parseSegments(): boolean {
    do {
      if (!this.#parseSegment()) return false;
    } while (this.#take('/'));
    return true;
  }

  #parseSegment(): boolean {
    if (this.#take('{')) return this.#parseVariable();
    const segment = this.#take('**') ? '**' : this.#take('*') ? '*' : this.#literal();
    if (segment === undefined) return false;
    this.#segments.push(segment);
    return true;
  }

  #parseVariable(): boolean {
    if (this.#inVariable) return false;
    this.#inVariable = true;
    const first = this.#segments.length;
    const [names = ''] = /^[^=}]*/.exec(this.#text.slice(this.#at)) ?? [];
    this.#at += names.length;
    const fieldPath = names.split('.');
    if (fieldPath.includes('')) return false;
    if (!this.#take('=')) this.#segments.push('*');
    else if (!this.#parseSegments()) return false;
    this.#variables.push({ fieldPath, first, end: this.#segments.length });
    this.#inVariable = false;
    return this.#take('}');
  }

  /** Undefined: it is empty. */
  #literal(): string | undefined {
    const [literal = ''] = /^[^/:}]*/.exec(this.#text.slice(this.#at)) ?? [];
    this.#at += literal.length;
    return literal === '' ? undefined : literal;
  }
}
