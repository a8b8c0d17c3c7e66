// Resources of which an update tells what has changed: all that there are afterwards.
import type { PlainObject } from '../config/values/objects.js';
import type { Resource } from './updates.js';

/** Messages by the names of their resources; `removed`: as Watcher's. */
export function merged<Message extends object>(
  before: ReadonlyMap<string, Message>,
  resources: readonly Resource[],
  removed: readonly string[] | undefined,
): ReadonlyMap<string, Message> {
  const after = new Map(removed && before);
  for (const name of removed ?? []) after.delete(name);
  for (const { name, message } of resources) after.set(name, message as PlainObject & Message);
  return after;
}
