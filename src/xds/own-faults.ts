// Rules that a resource breaks within an Any of its own, such as the configuration of a filter: the real
// server looks there only when it makes of the resource what it says. Of listeners and clusters, each of
// which is judged by itself, that refuses one and not the whole update.
import { parsePath } from '../config/issues/field-path.js';
import { isDeprecatedUse, timesRead } from '../config/issues/deprecated-fields.js';
import type { Issue } from '../config/issues/issue.js';
import { SDS } from './api.js';
import { isObject, type PlainObject } from '../config/values/objects.js';

/** Of what is deprecated. */
export interface DeprecatedUses {
  /** Outside of extensions: counted as it is read. */
  readonly read: number;
  /** In extensions: counted when they are made. */
  readonly made: ReadonlyMap<PlainObject, number>;
}

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

/** `type`: of the resources. */
export function sortDeprecated(
  issues: readonly Issue[],
  root: PlainObject,
  resources: readonly PlainObject[],
  type: string,
): DeprecatedUses {
  const known = new Set(resources);
  const made = new Map<PlainObject, number>();
  let read = 0;
  for (const issue of issues.filter(isDeprecatedUse)) {
    const owner = ownerOf(issue, root, known);
    if (owner) made.set(owner, (made.get(owner) ?? 0) + timesRead(issue.path));
    // As the real server, which judges secrets twice.
    else read += type === SDS.type ? 2 : 1;
  }
  return { read, made };
}

/** Whether it is in such an Any of `root`. */
export const isInExtension = (issue: Issue, root: PlainObject): boolean =>
  ownerOf(issue, root, new Set([root])) !== undefined;

function ownerOf(
  { path }: Issue,
  root: PlainObject,
  resources: ReadonlySet<PlainObject>,
): PlainObject | undefined {
  let owner = resources.has(root) ? root : undefined;
  let at: unknown = root;
  const segments = parsePath(path);
  for (const [index, segment] of segments.entries()) {
    at = (at as Readonly<Record<string | number, unknown>>)[segment];
    if (typeof at !== 'object' || at === null) {
      // An Any of a type that nobody knows has not been read.
      return segments[index + 1] === '@type' ? owner : undefined;
    }
    if (!isObject(at)) continue;
    if (owner && at['$type'] !== undefined) return owner;
    if (resources.has(at)) owner = at;
  }
  return undefined;
}
