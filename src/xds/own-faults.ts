// Rules that a resource breaks within an Any of its own, such as the configuration of a filter: the real
// server looks there only when it makes of the resource what it says. Of listeners and clusters, each of
// which is judged by itself, that refuses one and not the whole update.
import { parsePath } from '../config/issues/field-path.js';
import type { Issue } from '../config/issues/issue.js';
import { isObject, type PlainObject } from '../config/values/objects.js';

export type FaultsByResource = ReadonlyMap<PlainObject, readonly Issue[]>;

/** Undefined where one of these is wrong outside of such an Any: that refuses the whole update. */
export function sortFaults(
  errors: readonly Issue[],
  root: PlainObject,
  resources: readonly PlainObject[],
): FaultsByResource | undefined {
  const known = new Set(resources);
  const faults = new Map<PlainObject, Issue[]>();
  for (const error of errors) {
    const owner = ownerOf(error, root, known);
    if (!owner) return undefined;
    const those = faults.get(owner);
    if (those) those.push(error);
    else faults.set(owner, [error]);
  }
  return faults;
}

function ownerOf(
  { path }: Issue,
  root: PlainObject,
  resources: ReadonlySet<PlainObject>,
): PlainObject | undefined {
  let owner = resources.has(root) ? root : undefined;
  let at: unknown = root;
  for (const segment of parsePath(path)) {
    at = (at as Readonly<Record<string | number, unknown>>)[segment];
    if (typeof at !== 'object' || at === null) return undefined;
    if (!isObject(at)) continue;
    if (owner && at['$type'] !== undefined) return owner;
    if (resources.has(at)) owner = at;
  }
  return undefined;
}
