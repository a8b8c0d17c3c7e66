// Judges a decoded message by the rules of the .proto files: what is required, in which range, how
// many.
import { formatPath } from './issues/field-path.js';
import type { Issue } from './issues/issue.js';
import { describeValue, isObject, type PlainObject } from './values/objects.js';
import { brokenCount, brokenRule, isRequired, plural, type FieldRules } from './schema/rules.js';
import { defaultScalar } from './values/scalars.js';
import { LONGEST_DURATION_MS } from './values/times.js';
import type { EnumType, FieldType, MessageType, Schema, ValueType } from './schema/schema.js';

const NONE: ReadonlySet<string> = new Set();

/**
 * Every rule that the message breaks. `broken` are paths that decoding complained about already;
 * nothing more is said of them.
 */
export function validateMessage(
  schema: Schema,
  type: MessageType,
  message: PlainObject,
  broken: ReadonlySet<string> = NONE,
): readonly Issue[] {
  const walk = new Validation(schema, broken);
  walk.message(type, message);
  return walk.issues;
}

/** The real server does not judge these by their rules, which ask for more than it needs. */
const UNJUDGED: ReadonlySet<string> = new Set([
  'envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig',
  ...[
    'client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin',
    'least_request.v3.LeastRequest',
    'maglev.v3.Maglev',
    'random.v3.Random',
    'ring_hash.v3.RingHash',
    'round_robin.v3.RoundRobin',
  ].map((name) => `envoy.extensions.load_balancing_policies.${name}`),
]);

class Validation {
  readonly issues: Issue[] = [];
  readonly #schema: Schema;
  readonly #broken: ReadonlySet<string>;
  readonly #path: (string | number)[] = [];

  constructor(schema: Schema, broken: ReadonlySet<string>) {
    this.#schema = schema;
    this.#broken = broken;
  }

  message(type: MessageType, message: PlainObject): void {
    for (const field of type.fields) {
      const value = message[field.name];
      if (value === undefined && field.rules === undefined) continue;
      this.#path.push(field.name);
      if (!this.#isBroken()) this.#field(field, value);
      this.#path.pop();
    }
    for (const { name, required, fields } of type.oneofs) {
      if (!required || fields.some((field) => message[field.name] !== undefined)) continue;
      if (fields.some((field) => this.#isBroken(field.name))) continue;
      const names = fields.filter(({ deprecated }) => !deprecated).map((field) => field.name);
      this.#report(`has no ${name}`, names.length === 1 ? names[0] : `one of ${names.join(', ')}`);
    }
  }

  #field(field: FieldType, value: unknown): void {
    const rules = field.rules;
    if (field.label === 'many') {
      this.#list(field.value, rules?.repeated, (value ?? []) as readonly unknown[]);
    } else if (field.label === 'map') {
      this.#map(field.value, rules?.map, (value ?? {}) as PlainObject);
    } else if (value !== undefined) {
      this.#value(field.value, rules, value);
    } else if (rules) {
      this.#absent(field, rules);
    }
  }

  /** A field without presence has its default, which rules may refuse. */
  #absent(field: FieldType, rules: FieldRules): void {
    if (field.oneofIndex !== undefined) return;
    if (field.presence) {
      if (isRequired(rules)) this.#report('is required');
      return;
    }
    if (field.value.kind === 'enum') {
      this.#enum(field.value.type, rules, field.value.type.names.get(0));
    } else if (field.value.kind === 'scalar') {
      const value = defaultScalar(field.value.scalar);
      const expected = brokenRule(rules, value);
      if (expected !== undefined) this.#report('is required', value === '' ? undefined : expected);
    }
  }

  #list(type: ValueType, rules: FieldRules['repeated'], items: readonly unknown[]): void {
    const expected = brokenCount(rules?.min_items, rules?.max_items, items.length);
    if (expected !== undefined) {
      this.#report(
        items.length === 0 ? 'is required' : `has ${plural(items.length, 'element')}`,
        expected,
      );
    }
    for (let index = 0; index < items.length; index++) {
      const item = items[index];
      this.#path.push(index);
      if (!this.#isBroken()) {
        this.#value(type, rules?.items, item);
        if (rules?.unique && items.indexOf(item) < index) {
          this.#report(`${describeValue(item)} is there twice`, 'elements that differ');
        }
      }
      this.#path.pop();
    }
  }

  #map(type: ValueType, rules: FieldRules['map'], map: PlainObject): void {
    const keys = Object.keys(map);
    const expected = brokenCount(rules?.min_pairs, rules?.max_pairs, keys.length);
    if (expected !== undefined) {
      this.#report(
        keys.length === 0 ? 'is required' : `has ${plural(keys.length, 'element')}`,
        expected,
      );
    }
    for (const key of keys) {
      this.#path.push(key);
      if (!this.#isBroken()) {
        const badKey = rules?.keys && brokenRule(rules.keys, key);
        if (badKey !== undefined) this.#report(`found ${describeValue(key)} as the key`, badKey);
        this.#value(type, rules?.values, map[key]);
      }
      this.#path.pop();
    }
  }

  #value(type: ValueType, rules: FieldRules | undefined, value: unknown): void {
    if (type.kind === 'message') {
      if (!rules?.message?.skip && isObject(value)) this.message(type.type, value);
    } else if (type.kind === 'any') {
      if (isObject(value)) this.#any(rules, value);
    } else if (type.kind === 'duration' && typeof value === 'number' && value < 0) {
      const expected = (rules && brokenRule(rules, value)) ?? 'one that is not negative';
      this.#report(`found a duration of ${value / 1000}s`, expected, {
        shownPath: formatPath(this.#path.slice(0, -1)),
      });
    } else if (
      type.kind === 'duration' &&
      typeof value === 'number' &&
      value > LONGEST_DURATION_MS
    ) {
      this.#report(`found ${value / 1000}s`, `at most ${LONGEST_DURATION_MS / 1000}s`);
    } else if (rules) {
      if (type.kind === 'enum') this.#enum(type.type, rules, value);
      const expected = type.kind === 'enum' ? undefined : brokenRule(rules, value);
      if (expected !== undefined) {
        const shown =
          type.kind === 'duration' ? `${(value as number) / 1000}s` : describeValue(value);
        this.#report(`found ${shown}`, expected);
      }
    }
  }

  #enum(type: EnumType, rules: FieldRules, value: unknown): void {
    if (typeof value === 'number' && rules.enum?.defined_only) {
      this.#report(
        `unknown enum value ${value} of ${type.name}`,
        `one of ${[...type.numbers.keys()].join(', ')}`,
        { shownPath: formatPath(this.#path.slice(0, -1)) },
      );
      return;
    }
    const number = typeof value === 'number' ? value : (type.numbers.get(String(value)) ?? 0);
    if (!rules.enum?.not_in?.includes(number)) return;
    const refused = rules.enum.not_in;
    const allowed = [...type.numbers].filter(([, each]) => !refused.includes(each));
    this.#report(
      `${String(value)} is not allowed here`,
      `one of ${allowed.map(([name]) => name).join(', ')}`,
    );
  }

  #any(rules: FieldRules | undefined, message: PlainObject): void {
    const name = String(message['$type']);
    const allowed = rules?.any?.in?.map((url) => url.slice(url.lastIndexOf('/') + 1));
    if (allowed && !allowed.includes(name)) {
      this.#report(`holds a ${name}`, `one of ${allowed.join(', ')}`);
    }
    const type = UNJUDGED.has(name) ? undefined : this.#schema.findMessage(name);
    if (!type) return;
    // The fields of a TypedStruct stand one level deeper in the file.
    const isStruct = message['$struct'] !== undefined;
    if (isStruct) this.#path.push('value');
    this.message(type, message);
    if (isStruct) this.#path.pop();
  }

  /** Of the current path, or a field below it. */
  #isBroken(name?: string): boolean {
    if (this.#broken.size === 0) return false;
    return this.#broken.has(formatPath(name === undefined ? this.#path : [...this.#path, name]));
  }

  #report(message: string, expected?: string, more: Pick<Issue, 'shownPath'> = {}): void {
    const path = formatPath(this.#path);
    this.issues.push({
      severity: 'error',
      path,
      message,
      ...(expected !== undefined && { expected }),
      ...more,
    });
  }
}
