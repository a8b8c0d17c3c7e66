// The resources of a response, decoded a slice at a time: thousands of them do not hold up the control
// thread.
import { formatIssue } from '../config/issues/issue.js';
import { loadAny } from '../config/load-any.js';
import { sortUnknownFields } from '../config/issues/unknown-fields.js';
import type { Issue } from '../config/issues/issue.js';
import type { PlainObject } from '../config/values/objects.js';
import type { DiscoveryResponse, RawResource } from './discovery-wire.js';
import { isInExtension, sortDeprecated, sortFaults } from './own-faults.js';
import { Slices } from './slices.js';
import type { SubscriptionHost } from './subscription-host.js';
import type { KnownResource } from './watcher.js';

export type DecodedResources =
  { readonly resources: readonly KnownResource[] } | { readonly why: string };

/** `url`: of a resource, or '' where it has none. */
export const otherTypeInDelta = (url: string, wanted: string): string =>
  `type URL ${url} embedded in an individual Any does not match the message-wide type URL ${wanted} in ` +
  'DeltaDiscoveryResponse';

/** Never rejects for what the bytes say. `nameField`: in which field resources have their names. */
export async function decodeResources(
  { resources: raw, url }: DiscoveryResponse,
  nameField: string,
  host: SubscriptionHost,
  isDelta = false,
): Promise<DecodedResources> {
  const resources: KnownResource[] = [];
  const errors: string[] = [];
  const slices = new Slices();
  // As the real server: it ends with the first that is wrong, and looks at all types of changes first.
  const isOther = (one: RawResource): boolean => !one.isHeartbeat && one.url !== url;
  const tellsNone = isDelta && raw.some(isOther);
  for (const one of raw) {
    if (one.ttlMs !== undefined && one.ttlMs < 0) {
      errors.push(`${one.name}: ttl: found a duration of ${one.ttlMs}ms; expected at least 0s`);
    }
    if (one.isHeartbeat) continue;
    if (one.url === url) {
      const tells = !tellsNone && errors.length === 0;
      const decoded = decode(one, nameField, host, tells);
      if ('why' in decoded) errors.push(decoded.why);
      else resources.push(decoded.resource);
    } else {
      errors.push(
        isDelta
          ? otherTypeInDelta(one.url, url)
          : `${one.url} does not match the message-wide type URL ${url} in DiscoveryResponse`,
      );
    }
    const pause = slices.pause();
    if (pause) await pause;
  }
  return errors.length > 0 ? { why: errors.join('\n') } : { resources };
}

function decode(
  raw: RawResource,
  nameField: string,
  host: SubscriptionHost,
  tells: boolean,
): { readonly resource: KnownResource } | { readonly why: string } {
  const { unknownFields, stats, log } = host;
  const { message, issues } = loadAny(raw.url, raw.bytes, {
    unknownFields: unknownFields === 'refused' ? 'error' : 'warning',
  });
  const named = (message as PlainObject)[nameField];
  const name = raw.name !== '' || typeof named !== 'string' ? raw.name : named;
  if (issues.length === 0) return { resource: { name, message, version: raw.version } };
  const errors = issues.filter(({ severity }) => severity === 'error');
  const told = (issue: (typeof issues)[number]): string => `${name}: ${formatIssue(issue)}`;
  const faults = sortFaults(errors, message, [message])?.get(message);
  const isRefused = errors.length > 0 && !faults;
  if (tells && unknownFields === 'told') {
    // Nobody has looked at the extensions of what is refused.
    const seen = isRefused ? issues.filter((issue) => !isInExtension(issue, message)) : issues;
    tellUnknown(seen, told, host);
  }
  if (isRefused) return { why: errors.map(told).join('\n') };
  for (const issue of issues) {
    if (issue.severity !== 'error' && issue.code !== 'unknown_field') log('warning', told(issue));
  }
  const uses = sortDeprecated(issues, message, [message], String(message['$type']));
  stats.countDeprecated(uses.read);
  const madeUses = uses.made.get(message) ?? 0;
  return { resource: { name, message, version: raw.version, madeUses, ...(faults && { faults }) } };
}

/** Thousands of resources may have the same: each kind is told of once. */
function tellUnknown(
  issues: readonly Issue[],
  told: (issue: Issue) => string,
  { stats, log }: SubscriptionHost,
): void {
  for (const [kind, some] of sortUnknownFields(issues)) {
    if (stats.countUnknown(kind)) for (const issue of some) log('warning', told(issue));
  }
}
