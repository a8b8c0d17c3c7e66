// The resources of a response, decoded a slice at a time: thousands of them do not hold up the control
// thread.
import { formatIssue } from '../config/issues/issue.js';
import { loadAny } from '../config/load-any.js';
import { countUnknownFields } from '../config/issues/unknown-fields.js';
import type { PlainObject } from '../config/values/objects.js';
import type { DiscoveryResponse, RawResource } from './discovery-wire.js';
import { sortDeprecated, sortFaults } from './own-faults.js';
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
  for (const one of raw) {
    if (one.ttlMs !== undefined && one.ttlMs < 0) {
      errors.push(`${one.name}: ttl: found a duration of ${one.ttlMs}ms; expected at least 0s`);
    }
    if (one.isHeartbeat) continue;
    if (one.url === url) {
      const decoded = decode(one, nameField, host);
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
  { unknownFields, stats, log }: SubscriptionHost,
): { readonly resource: KnownResource } | { readonly why: string } {
  const { message, issues } = loadAny(raw.url, raw.bytes, {
    unknownFields: unknownFields === 'refused' ? 'error' : 'warning',
  });
  const named = (message as PlainObject)[nameField];
  const name = raw.name !== '' || typeof named !== 'string' ? raw.name : named;
  if (issues.length === 0) return { resource: { name, message, version: raw.version } };
  const errors = issues.filter(({ severity }) => severity === 'error');
  const told = (issue: (typeof issues)[number]): string => `${name}: ${formatIssue(issue)}`;
  const faults = sortFaults(errors, message, [message])?.get(message);
  if (errors.length > 0 && !faults) return { why: errors.map(told).join('\n') };
  if (unknownFields === 'told') {
    const count = countUnknownFields(issues);
    if (count > 0) stats.count('server.dynamic_unknown_fields', count);
  }
  for (const issue of issues) {
    const isPassedOver = unknownFields === 'passed over' && issue.code === 'unknown_field';
    if (issue.severity !== 'error' && !isPassedOver) log('warning', told(issue));
  }
  const uses = sortDeprecated(issues, message, [message], String(message['$type']));
  stats.countDeprecated(uses.read);
  const madeUses = uses.made.get(message) ?? 0;
  return { resource: { name, message, version: raw.version, madeUses, ...(faults && { faults }) } };
}
