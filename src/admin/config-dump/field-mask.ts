// Field masks: which fields of a message are shown ("bootstrap.node.id,last_updated").
import { setOwn, type PlainObject } from '../../config/values/objects.js';
import type { MessageType, ValueType } from '../../config/schema/schema.js';
import { fieldsOfWellKnown, isMessage, trimWellKnown } from './well-known-mask.js';

/** Field names to what is shown of them; undefined: all. */
export type MaskTree = Map<string, MaskTree | undefined>;

export function parseMask(text: string): readonly string[] {
  return text.split(',').filter((path) => path !== '');
}

/** Whether each path leads through single messages to a field. */
export function isValidMask(type: MessageType, paths: readonly string[]): boolean {
  return paths.every((path) => isValidPath(type, path));
}

function isValidPath(type: MessageType, path: string): boolean {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let current: ValueType = { kind: 'message', type };
  for (const name of names) {
    const value = singleField(current, name);
    if (value === undefined || !isMessage(value)) return false;
    current = value;
  }
  return hasField(current, last);
}

function hasField(value: ValueType, name: string): boolean {
  if (value.kind === 'message') return value.type.field(name)?.name === name;
  return fieldsOfWellKnown(value).includes(name);
}

/** What a field that is neither list nor map holds. */
function singleField(value: ValueType, name: string): ValueType | undefined {
  if (value.kind !== 'message') return undefined;
  const field = value.type.field(name);
  return field?.name === name && field.label === 'one' ? field.value : undefined;
}

/** A path that names a whole field wins over paths into it. */
export function maskTree(paths: readonly string[]): MaskTree {
  const root: MaskTree = new Map();
  for (const path of paths) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    let node: MaskTree | undefined = root;
    for (const name of names) {
      if (!node.has(name)) node.set(name, new Map());
      node = node.get(name);
      if (!node) break;
    }
    node?.set(last, undefined);
  }
  return root;
}

/** Of a decoded message; keys that are no fields (`$type`) stay. */
export function trim(type: MessageType, message: PlainObject, tree: MaskTree): PlainObject {
  const trimmed: PlainObject = {};
  for (const [name, value] of Object.entries(message)) {
    if (name.startsWith('$')) setOwn(trimmed, name, value);
    else if (tree.has(name)) {
      const below = tree.get(name);
      const of = type.field(name)?.value;
      setOwn(trimmed, name, below && of ? trimValue(of, value, below) : value);
    }
  }
  return trimmed;
}

function trimValue(type: ValueType, value: unknown, tree: MaskTree): unknown {
  return type.kind === 'message'
    ? trim(type.type, value as PlainObject, tree)
    : trimWellKnown(type, value, tree);
}
