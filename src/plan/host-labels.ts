// What balancers and retries are told of hosts by metadata, as plans have it: "key=value" each, the
// value as JSON.
import type { envoy_config_core_v3_Metadata as Metadata } from '../../build/messages.gen.js';

const FILTER = 'envoy.lb';
const SOCKETS = 'envoy.transport_socket_match';

/** A host's. A list gives a label for each of its values: any of them is enough. */
export function hostLabels(metadata: Metadata | undefined): string[] | undefined {
  return labelsOf(metadata?.filter_metadata?.[FILTER]);
}

/** Those of its values that are lists, each in one label. */
export function listLabels(metadata: Metadata | undefined): string[] | undefined {
  const own = metadata?.filter_metadata?.[FILTER];
  if (!own) return undefined;
  const lists = Object.entries(own).filter(([, value]) => Array.isArray(value));
  return lists.map(([key, value]) => label(key, value));
}

/** What hash tables know a host by; undefined: its address, or its name. */
export function hashKey(metadata: Metadata | undefined): string | undefined {
  const key = metadata?.filter_metadata?.[FILTER]?.['hash_key'];
  return typeof key === 'string' ? key : undefined;
}

/** The same, of what says how it is reached. */
export function socketLabels(metadata: Metadata | undefined): string[] | undefined {
  return labelsOf(metadata?.filter_metadata?.[SOCKETS]);
}

function labelsOf(own: Record<string, unknown> | undefined): string[] | undefined {
  if (!own) return undefined;
  return Object.entries(own).flatMap(([key, value]) =>
    (Array.isArray(value) ? (value as unknown[]) : [value]).map((item) => label(key, item)),
  );
}

/** What a host must have, all of it, to be meant. */
export function wantedLabels(metadata: Metadata | undefined): string[] {
  return wantedOf(metadata?.filter_metadata?.[FILTER] ?? {});
}

export function wantedOf(own: Record<string, unknown>): string[] {
  return Object.entries(own).map(([key, value]) => label(key, value));
}

function label(key: string, value: unknown): string {
  return `${key}=${JSON.stringify(inOrder(value))}`;
}

/** The same value has the same text, whatever the order of its keys. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const entries = Object.entries(value).map(([key, item]) => [key, inOrder(item)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
