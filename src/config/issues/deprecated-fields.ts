// How often runtime.deprecated_feature_use counts: the real server looks at what an extension is given
// when it makes the extension, and makes those of filter chains twice, to see whether it can and to use them.
// What is outside of extensions it reads before it counts anything in a bootstrap, and counts it in a
// resource that comes later.
import { parsePath, type FieldPath } from './field-path.js';
import type { Issue } from './issue.js';

const HOLDERS: readonly unknown[] = [
  'typed_config',
  'typed_per_filter_config',
  'typed_extension_protocol_options',
];
/** What is made once, in filter chains too. */
const MADE_ONCE: readonly unknown[] = ['access_log', 'upstream_log', 'provider'];

export function countDeprecatedUses(issues: readonly Issue[]): number {
  const fields = issues.filter(isDeprecatedUse);
  return fields.reduce((uses, { path }) => uses + timesRead(path), countDeprecatedValues(issues));
}

/** What is found as something is made, once each time. */
export const countDeprecatedValues = (issues: readonly Issue[]): number =>
  issues.filter(({ code }) => code === 'deprecated_value').length;

export const isDeprecatedUse = ({ code, severity }: Issue): boolean =>
  code === 'deprecated_field' && severity !== 'error';

/** 0: it is outside of extensions, or of one that nobody looks at. */
export function timesRead(text: string): number {
  const path = parsePath(text);
  const at = path.findLastIndex((segment) => HOLDERS.includes(segment));
  if (text === 'admin.access_log_path') return 1;
  if (at < 0 || path.includes('load_balancing_policy')) return 0;
  if (path[at] !== 'typed_config') return 1;
  const owner = path.slice(0, at).findLast((segment) => typeof segment === 'string');
  // Of a resource that is an extension.
  if (owner === undefined || owner === 'resources') return 2;
  if (owner === 'http_filters') return 2;
  return isInChain(path) && !MADE_ONCE.includes(owner) ? 2 : 1;
}

const isInChain = (path: FieldPath): boolean =>
  ['filter_chains', 'filter_chain', 'default_filter_chain'].some((name) => path.includes(name));
