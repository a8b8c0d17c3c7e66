// What a cluster wants of its endpoints beyond what every one has: how it reaches them may depend on
// their metadata, and on their further addresses.
import type { TagNames } from '../tag-names.js';
import type {
  envoy_config_cluster_v3_UpstreamConnectionOptions_HappyEyeballsConfig as HappyEyeballs,
  envoy_config_core_v3_Metadata as Metadata,
} from '../../../build/messages.gen.js';
import { metadataValues } from '../format/metadata-values.js';
import type { Address, HostValue, MatchInput, MetadataSpace } from '../plan.gen.js';
import { MatchInput_Kind } from '../plan.gen.js';

export interface HostNeeds {
  /** What the tree of transport_socket_matcher asks. */
  readonly inputs: readonly MatchInput[];
  readonly happyEyeballs?: HappyEyeballs;
  /** The cluster's name, where it is the one that this proxy is one of. */
  readonly localName?: string;
  /** What tags of spans name of hosts. */
  readonly tagNames?: Pick<TagNames, 'metadataOf'>;
}

export const NO_NEEDS: HostNeeds = { inputs: [] };

/** The values that a tree asks for; one that is empty, or not there, is none. */
export function hostValues(
  { inputs }: HostNeeds,
  endpoint: Metadata | undefined,
  locality: Metadata | undefined,
): HostValue[] {
  return inputs.flatMap(({ kind, metadata_namespace: space = '', path = [] }) => {
    const isLocality = kind === MatchInput_Kind.LOCALITY_METADATA;
    const metadata = isLocality ? locality : endpoint;
    const value = textOf(metadata?.filter_metadata?.[space], path);
    if (!value) return [];
    return [
      {
        ...(isLocality && { is_locality: true }),
        metadata_namespace: space,
        path: [...path],
        value,
      },
    ];
  });
}

function textOf(
  struct: Readonly<Record<string, unknown>> | undefined,
  path: readonly string[],
): string | undefined {
  let value: unknown = struct;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  if (value === undefined || path.length === 0) return undefined;
  return typeof value === 'string' ? value : metadataValues({ value })[1]?.text;
}

/** Those of the wanted namespaces that there are. */
export function metadataSpaces(
  namespaces: readonly string[],
  metadata: Metadata | undefined,
): MetadataSpace[] {
  return namespaces.flatMap((name) => {
    const struct = metadata?.filter_metadata?.[name];
    return struct ? [{ name, values: metadataValues(struct) }] : [];
  });
}

/**
 * As the real server: so many of one family, that of the first address unless said otherwise, then one
 * of the others, and so on.
 */
export function inTryingOrder(
  addresses: readonly Address[],
  { first_address_family_version: version, first_address_family_count: count = 1 }: HappyEyeballs,
): Address[] {
  const familyOf = ({ ip }: Address): number => ip?.length ?? 0;
  const preferred = version === 'V4' ? 4 : version === 'V6' ? 16 : familyOf(addresses[0] ?? {});
  const first = addresses.filter((address) => familyOf(address) === preferred);
  const others = addresses.filter((address) => familyOf(address) !== preferred);
  const ordered: Address[] = [];
  while (first.length + others.length > 0) {
    ordered.push(...first.splice(0, count), ...others.splice(0, 1));
  }
  return ordered;
}
