// Which hosts of a cluster a route's requests may go to: those with its labels.
import type { envoy_config_core_v3_Metadata as Metadata } from '../../../build/messages.gen.js';
import { wantedOf } from '../host-labels.js';
import type { MetadataMatch } from '../plan.gen.js';

const FILTER = 'envoy.lb';
const FALLBACK_LIST = 'fallback_list';

/**
 * Of a route and, where it has several clusters, of the one that was chosen: what that says goes over
 * what the route says. Undefined where nothing is asked for.
 */
export function compileMetadataMatch(
  route: Metadata | undefined,
  cluster?: Metadata,
): MetadataMatch | undefined {
  const wanted = {
    ...route?.filter_metadata?.[FILTER],
    ...cluster?.filter_metadata?.[FILTER],
  };
  if (Object.keys(wanted).length === 0) return undefined;
  const { [FALLBACK_LIST]: list, ...others } = wanted;
  const fallbacks = Array.isArray(list) ? list.filter(isStruct) : [];
  return {
    labels: labelsOf(wanted),
    fallbacks: fallbacks.map((fallback) => ({ labels: labelsOf({ ...others, ...fallback }) })),
  };
}

function isStruct(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sorted by key. */
function labelsOf(wanted: Record<string, unknown>): string[] {
  const sorted = Object.entries(wanted).sort(([a], [b]) => (a < b ? -1 : 1));
  return wantedOf(Object.fromEntries(sorted));
}
