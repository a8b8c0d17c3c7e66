// What protobuf prints of messages for people to read, with the mark that says that it is not for
// programs.
import { exactNumberText } from './values/number-text.js';
import { isObject } from './values/objects.js';

const MARK = 'goo.gle/debugstr    \n';

export const debugText = (lines: readonly string[]): string =>
  MARK + lines.map((line) => `${line}\n`).join('');

/** Of a Struct: fields in the order of their names. */
export function structDebugText(struct: Readonly<Record<string, unknown>>): string {
  return debugText(structLines(struct));
}

function structLines(struct: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(struct)
    .sort()
    .flatMap((key) => [
      'fields {',
      `  key: ${JSON.stringify(key)}`,
      '  value {',
      ...valueLines(struct[key]).map((line) => `    ${line}`),
      '  }',
      '}',
    ]);
}

function valueLines(value: unknown): string[] {
  if (value === null) return ['null_value: NULL_VALUE'];
  if (typeof value === 'string') return [`string_value: ${JSON.stringify(value)}`];
  if (typeof value === 'number') return [`number_value: ${exactNumberText(value)}`];
  if (typeof value === 'boolean') return [`bool_value: ${value}`];
  if (Array.isArray(value))
    return block(
      'list_value',
      value.flatMap((item) => block('values', valueLines(item))),
    );
  return isObject(value) ? block('struct_value', structLines(value)) : [];
}

const block = (name: string, lines: readonly string[]): string[] => [
  `${name} {`,
  ...lines.map((line) => `  ${line}`),
  '}',
];
