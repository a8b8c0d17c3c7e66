// What protoc-gen-validate's options say of one value: the rules that the .proto files carry.

export interface NumberRules {
  readonly const?: number;
  readonly lt?: number;
  readonly lte?: number;
  readonly gt?: number;
  readonly gte?: number;
  readonly in?: readonly number[];
  readonly not_in?: readonly number[];
  readonly ignore_empty?: boolean;
}

export interface StringRules {
  readonly const?: string;
  readonly len?: number;
  readonly min_len?: number;
  readonly max_len?: number;
  readonly min_bytes?: number;
  readonly max_bytes?: number;
  readonly pattern?: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly contains?: string;
  readonly not_contains?: string;
  readonly in?: readonly string[];
  readonly not_in?: readonly string[];
  readonly uri?: boolean;
  readonly address?: boolean;
  readonly hostname?: boolean;
  readonly ip?: boolean;
  readonly well_known_regex?: 'HTTP_HEADER_NAME' | 'HTTP_HEADER_VALUE';
  readonly strict?: boolean;
  readonly ignore_empty?: boolean;
}

/** Of one field; which members there are follows the field's type. */
export interface FieldRules {
  readonly message?: { readonly required?: boolean; readonly skip?: boolean };
  readonly any?: { readonly required?: boolean; readonly in?: readonly string[] };
  /** Bounds in ms. */
  readonly duration?: NumberRules & { readonly required?: boolean };
  readonly timestamp?: { readonly required?: boolean };
  readonly bool?: { readonly const?: boolean };
  readonly enum?: { readonly defined_only?: boolean; readonly not_in?: readonly number[] };
  readonly bytes?: { readonly min_len?: number; readonly max_len?: number };
  readonly string?: StringRules;
  readonly repeated?: {
    readonly min_items?: number;
    readonly max_items?: number;
    readonly unique?: boolean;
    readonly items?: FieldRules;
  };
  readonly map?: {
    readonly min_pairs?: number;
    readonly max_pairs?: number;
    readonly keys?: FieldRules;
    readonly values?: FieldRules;
  };
  readonly double?: NumberRules;
  readonly float?: NumberRules;
  readonly int32?: NumberRules;
  readonly int64?: NumberRules;
  readonly uint32?: NumberRules;
  readonly uint64?: NumberRules;
}

const NUMBERS = ['uint32', 'uint64', 'int32', 'int64', 'double', 'float'] as const;

const HEADER_PATTERNS = {
  HTTP_HEADER_NAME: {
    // The range from + to . has a comma in it, as in the pattern of protoc-gen-validate.
    strict: /^:?[0-9a-zA-Z!#$%&'*+-.^_|~`]+$/,
    loose: /^[^\0\n\r]*$/,
    form: 'the name of an HTTP header',
  },
  HTTP_HEADER_VALUE: {
    strict: /^[^\0-\x08\n-\x1f\x7f]*$/,
    loose: /^[^\0\n\r]*$/,
    form: 'the value of an HTTP header',
  },
};

/** Whether a message field must be set. */
export function isRequired(rules: FieldRules): boolean {
  const { message, any, duration, timestamp } = rules;
  return [message, any, duration, timestamp].some((rule) => rule?.required === true);
}

/** What a single value should be instead, or undefined where it keeps the rules. */
export function brokenRule(rules: FieldRules, value: unknown): string | undefined {
  if (typeof value === 'string') return rules.string && brokenStringRule(rules.string, value);
  if (typeof value === 'number') return brokenNumber(rules, value);
  if (value instanceof Uint8Array) return rules.bytes && brokenSize(rules.bytes, value.length);
  if (typeof value === 'boolean') {
    const wanted = rules.bool?.const;
    return wanted !== undefined && wanted !== value ? String(wanted) : undefined;
  }
  return undefined;
}

/** Rules of a list or map by their count of elements. */
export function brokenCount(
  least: number | undefined,
  most: number | undefined,
  count: number,
): string | undefined {
  if (least !== undefined && count < least) return `at least ${plural(least, 'element')}`;
  if (most !== undefined && count > most) return `at most ${plural(most, 'element')}`;
  return undefined;
}

function brokenNumber(rules: FieldRules, value: number): string | undefined {
  if (rules.duration) return brokenNumberRule(rules.duration, value, (ms) => `${ms / 1000}s`);
  for (const kind of NUMBERS) {
    const rule = rules[kind];
    if (rule) return brokenNumberRule(rule, value, String);
  }
  return undefined;
}

function brokenNumberRule(
  rule: NumberRules,
  value: number,
  print: (value: number) => string,
): string | undefined {
  if (rule.ignore_empty && value === 0) return undefined;
  if (rule.const !== undefined && value !== rule.const) return print(rule.const);
  if (rule.in && !rule.in.includes(value)) return `one of ${rule.in.map(print).join(', ')}`;
  if (rule.not_in?.includes(value)) return `none of ${rule.not_in.map(print).join(', ')}`;
  const { lt = rule.lte, gt = rule.gte } = rule;
  // Bounds that exclude each other name the values outside of them.
  if (lt !== undefined && gt !== undefined && lt < gt) {
    return isBelow(rule, value) || isAbove(rule, value)
      ? undefined
      : `${below(rule, print)} or ${above(rule, print)}`;
  }
  if (isBelow(rule, value) && isAbove(rule, value)) return undefined;
  if (rule.gte !== undefined && rule.lte !== undefined)
    return `from ${print(rule.gte)} to ${print(rule.lte)}`;
  return [above(rule, print), below(rule, print)].filter((bound) => bound !== '').join(' and ');
}

// Written so that NaN keeps no bound.
const isBelow = ({ lt, lte }: NumberRules, value: number): boolean =>
  (lt === undefined || value < lt) && (lte === undefined || value <= lte);
const isAbove = ({ gt, gte }: NumberRules, value: number): boolean =>
  (gt === undefined || value > gt) && (gte === undefined || value >= gte);

function below({ lt, lte }: NumberRules, print: (value: number) => string): string {
  if (lt !== undefined) return `less than ${print(lt)}`;
  return lte === undefined ? '' : `at most ${print(lte)}`;
}

function above({ gt, gte }: NumberRules, print: (value: number) => string): string {
  if (gt !== undefined) return `more than ${print(gt)}`;
  return gte === undefined ? '' : `at least ${print(gte)}`;
}

function brokenStringRule(rule: StringRules, value: string): string | undefined {
  if (rule.ignore_empty && value === '') return undefined;
  return brokenLength(rule, value) ?? brokenContent(rule, value) ?? brokenForm(rule, value);
}

function brokenLength(rule: StringRules, value: string): string | undefined {
  const { len, min_len: least, max_len: most, min_bytes: leastBytes, max_bytes: mostBytes } = rule;
  if (len !== undefined || least !== undefined || most !== undefined) {
    const length = [...value].length;
    if (len !== undefined && length !== len) return plural(len, 'character');
    if (least !== undefined && length < least) return `at least ${plural(least, 'character')}`;
    if (most !== undefined && length > most) return `at most ${plural(most, 'character')}`;
  }
  if (leastBytes === undefined && mostBytes === undefined) return undefined;
  return brokenSize({ min_len: leastBytes, max_len: mostBytes }, Buffer.byteLength(value));
}

function brokenSize(
  rule: { readonly min_len?: number | undefined; readonly max_len?: number | undefined },
  size: number,
): string | undefined {
  if (rule.min_len !== undefined && size < rule.min_len)
    return `at least ${plural(rule.min_len, 'byte')}`;
  if (rule.max_len !== undefined && size > rule.max_len)
    return `at most ${plural(rule.max_len, 'byte')}`;
  return undefined;
}

function brokenContent(rule: StringRules, value: string): string | undefined {
  if (rule.const !== undefined && value !== rule.const) return `"${rule.const}"`;
  if (rule.in && !rule.in.includes(value)) return `one of ${rule.in.map(quoted).join(', ')}`;
  if (rule.not_in?.includes(value)) return `none of ${rule.not_in.map(quoted).join(', ')}`;
  if (rule.prefix !== undefined && !value.startsWith(rule.prefix)) return `"${rule.prefix}…"`;
  if (rule.suffix !== undefined && !value.endsWith(rule.suffix)) return `"…${rule.suffix}"`;
  if (rule.contains !== undefined && !value.includes(rule.contains)) return `"…${rule.contains}…"`;
  if (rule.not_contains !== undefined && value.includes(rule.not_contains)) {
    return `a string without "${rule.not_contains}"`;
  }
  return undefined;
}

function brokenForm(rule: StringRules, value: string): string | undefined {
  if (rule.pattern !== undefined && !compiled(rule.pattern).test(value)) {
    return `a string that matches ${rule.pattern}`;
  }
  if (rule.uri && !URL.canParse(value)) return 'a URI with a scheme';
  if (rule.ip && !isIp(value)) return 'an IP address';
  if (rule.hostname && !isHostname(value)) return 'a host name';
  if (rule.address && !isIp(value) && !isHostname(value)) return 'an IP address or a host name';
  if (rule.well_known_regex) {
    const pattern = HEADER_PATTERNS[rule.well_known_regex];
    const isMatch = (rule.strict === false ? pattern.loose : pattern.strict).test(value);
    if (!isMatch) return pattern.form;
  }
  return undefined;
}

const isIp = (value: string): boolean =>
  /^(?:\d{1,3}\.){3}\d{1,3}$/.test(value) ||
  (value.includes(':') && URL.canParse(`http://[${value}]`));
const isHostname = (value: string): boolean =>
  value.length <= 253 && /^(?:[a-z\d](?:[-a-z\d]{0,61}[a-z\d])?(?:\.|$))+$/i.test(value);

const quoted = (text: string): string => JSON.stringify(text);
export const plural = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

const patterns = new Map<string, RegExp>();

/** Patterns come from the .proto files only. */
function compiled(pattern: string): RegExp {
  let regex = patterns.get(pattern);
  if (!regex) patterns.set(pattern, (regex = new RegExp(pattern)));
  return regex;
}
