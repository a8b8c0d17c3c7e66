// Field masks: which fields of a message are shown ("bootstrap.node.id,last_updated").
import { setOwn, type PlainObject } from '../../config/objects.js';
import type { MessageType } from '../../config/schema.js';

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
  let current: MessageType | undefined = type;
  for (const [index, name] of names.entries()) {
    const field: ReturnType<MessageType['field']> = current?.field(name);
    if (field?.name !== name) return false;
    if (index === names.length - 1) return true;
    current =
      field.label === 'one' && field.value.kind === 'message' ? field.value.type : undefined;
  }
  return false;
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

/** Of a decoded or of a printed message; keys that are no fields (`$type`, `@type`) stay. */
export function trim(message: PlainObject, tree: MaskTree): PlainObject {
  const trimmed: PlainObject = {};
  for (const [name, value] of Object.entries(message)) {
    if (name.startsWith('$') || name.startsWith('@')) setOwn(trimmed, name, value);
    else if (tree.has(name)) {
      const below = tree.get(name);
      setOwn(trimmed, name, below ? trim(value as PlainObject, below) : value);
    }
  }
  return trimmed;
}
