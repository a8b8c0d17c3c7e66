// A file with the resources of one kind: a DiscoveryResponse, as a control plane would have sent it.
import type {
  envoy_service_discovery_v3_DiscoveryResponse as DiscoveryResponse,
  envoy_service_discovery_v3_Resource as ResourceWrapper,
  xds_core_v3_CollectionEntry as CollectionEntry,
  xds_core_v3_Resource as CollectionMessage,
} from '../../build/messages.gen.js';
import { countUnknownFields } from '../config/issues/unknown-fields.js';
import { formatIssue, type Issue } from '../config/issues/issue.js';
import { loadFile, type LoadOptions } from '../config/load.js';
import type { PlainObject } from '../config/values/objects.js';
import { sortFaults, type FaultsByResource } from './own-faults.js';

const COLLECTION = 'xds.core.v3.Resource';
const RESPONSE = 'envoy.service.discovery.v3.DiscoveryResponse';
const WRAPPER = 'envoy.service.discovery.v3.Resource';

export interface ReadOptions {
  /** What becomes of fields that nobody knows. */
  readonly unknownFields: 'refused' | 'told' | 'passed over';
}

export interface ResourceFile {
  readonly version: string;
  /** Decoded, each with its type. */
  readonly resources: readonly PlainObject[];
  /** Of each, where they have their own; absent: none has. */
  readonly versions?: readonly string[];
  /** Absent: none breaks a rule. */
  readonly faults?: FaultsByResource | undefined;
  /** All that is wrong or doubtful in `message`, which has the resources. */
  readonly issues: readonly Issue[];
  readonly message: PlainObject;
  readonly unknownFieldCount: number;
  /** Fields and values that are doubtful, a line each. */
  readonly warnings: readonly string[];
  /** The same issue in a line, with the place in the file. */
  describe(issue: Issue): string;
}

export type ReadFile =
  | { readonly file: ResourceFile }
  /** `isRefused`: it could be read, but breaks rules; otherwise it is no DiscoveryResponse. */
  | { readonly why: string; readonly isRefused: boolean };

/** Never throws. `isCollection`: an xds.core.v3.Resource with a list of entries. */
export function readResourceFile(
  path: string,
  options: ReadOptions,
  isCollection = false,
): ReadFile {
  const loaded = isCollection
    ? loadFile<CollectionMessage>(path, COLLECTION, 'a Resource', checksOf(options))
    : loadFile<DiscoveryResponse>(path, RESPONSE, 'a DiscoveryResponse', checksOf(options));
  const errors = loaded.issues.filter(({ severity }) => severity === 'error');
  const why = errors.map(formatIssue).join('\n');
  const passesOver = options.unknownFields === 'passed over';
  if (!loaded.partial || (errors.length > 0 && !loaded.isWhole)) {
    return { why, isRefused: false };
  }
  const found = isCollection
    ? entriesOf(loaded.partial as CollectionMessage)
    : resourcesOf(loaded.partial as DiscoveryResponse);
  if (typeof found === 'string') return { why: found, isRefused: true };
  const faults = ownFaultsOf(errors, loaded.partial as PlainObject, found.resources);
  if (!faults) return { why, isRefused: true };
  return {
    file: {
      ...found,
      ...(faults.size > 0 && { faults }),
      issues: loaded.issues,
      message: loaded.partial as PlainObject,
      unknownFieldCount: passesOver ? 0 : countUnknownFields(loaded.issues),
      warnings: loaded.issues
        .filter(
          ({ severity, code }) =>
            severity === 'warning' && !(passesOver && code === 'unknown_field'),
        )
        .map(formatIssue),
      describe: (issue) => {
        const position = issue.position ?? loaded.locate(issue.path);
        return formatIssue(position ? { ...issue, position } : issue);
      },
    },
  };
}

/** Undefined where the whole of it is refused. */
export function ownFaultsOf(
  errors: readonly Issue[],
  root: PlainObject,
  resources: readonly PlainObject[],
): FaultsByResource | undefined {
  const isUnread = ({ code }: Issue): boolean =>
    code === 'unknown_field' || code === 'unknown_value';
  return errors.some(isUnread) ? undefined : sortFaults(errors, root, resources);
}

type Found = Pick<ResourceFile, 'version' | 'resources' | 'versions'>;

/** As on streams, there is nothing of v2: only a bootstrap may be that old. */
const checksOf = ({ unknownFields }: ReadOptions): LoadOptions => ({
  unknownFields: unknownFields === 'refused' ? 'error' : 'warning',
  refusesV2: true,
});

const resourcesOf = ({ version_info: version = '', resources = [] }: DiscoveryResponse): Found => ({
  version,
  resources: unwrapped(resources),
});

/**
 * Those in wrappers come out of them. Names, versions and times to live are for streams: here they mean
 * nothing, as in the real server.
 */
export function unwrapped(resources: readonly unknown[]): readonly PlainObject[] {
  const all = (resources as readonly PlainObject[]).map((message) =>
    message['$type'] === WRAPPER ? (message as ResourceWrapper).resource : message,
  );
  return all.filter((one) => one !== undefined) as readonly PlainObject[];
}

/** What is wrong, where it is no such collection. */
function entriesOf({ version = '', resource }: CollectionMessage): Found | string {
  const list = (resource as PlainObject | undefined)?.['entries'] ?? [];
  if (!Array.isArray(list)) return 'a collection has a list of entries';
  const entries = list as readonly CollectionEntry[];
  if (entries.some(({ inline_entry: entry }) => !entry?.resource)) {
    return 'entries of a collection that are elsewhere (locator) are not supported';
  }
  return {
    version,
    resources: entries.map(({ inline_entry: entry }) => entry?.resource as PlainObject),
    versions: entries.map(({ inline_entry: entry }) => entry?.version ?? ''),
  };
}
