// How often runtime.deprecated_feature_use counts: the real server looks at what an extension is given
// when it makes the extension, and makes those of filter chains twice, to see whether it can and to use them.
// What is outside of extensions it reads before it counts anything.
import { parsePath, type FieldPath } from './field-path.js';
import type { Issue } from './issue.js';

export function countDeprecatedUses(issues: readonly Issue[]): number {
  let uses = 0;
  for (const { code, severity, path } of issues) {
    if (code === 'deprecated_field' && severity !== 'error') uses += timesRead(parsePath(path));
  }
  return uses;
}

function timesRead(path: FieldPath): number {
  const has = (...names: readonly string[]): boolean => names.some((name) => path.includes(name));
  if (!has('typed_config') || has('load_balancing_policy')) return 0;
  const isOfFilter = has('filter_chains', 'filter_chain', 'default_filter_chain') && has('filters');
  return isOfFilter && !has('access_log', 'upstream_log') ? 2 : 1;
}
