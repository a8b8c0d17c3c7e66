// How often runtime.deprecated_feature_use counts: the real server looks at what an extension is given
// when it makes the extension, and makes those of filter chains twice, to see whether it can and to use them.
// What is outside of extensions it reads before it counts anything.
import type { Issue } from './issue.js';

const MADE_TWICE = /\bfilter_chains?(?:\[\d+\])?\.filters\[/;
const MADE_ONCE = /\.(?:access_log|upstream_log)\[/;
const NOT_LOOKED_AT = /\bload_balancing_policy\./;

export function countDeprecatedUses(issues: readonly Issue[]): number {
  let uses = 0;
  for (const { code, severity, path } of issues) {
    if (code !== 'deprecated_field' || severity === 'error') continue;
    if (!path.includes('typed_config') || NOT_LOOKED_AT.test(path)) continue;
    uses += MADE_TWICE.test(path) && !MADE_ONCE.test(path) ? 2 : 1;
  }
  return uses;
}
