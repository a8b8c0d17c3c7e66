// A file with the resources of one kind: a DiscoveryResponse, as a control plane would have sent it.
import type { envoy_service_discovery_v3_DiscoveryResponse as DiscoveryResponse } from '../../build/messages.gen.js';
import { countUnknownFields } from '../config/issues/unknown-fields.js';
import { formatIssue, type Issue } from '../config/issues/issue.js';
import { loadFile } from '../config/load.js';
import type { PlainObject } from '../config/values/objects.js';

const RESPONSE = 'envoy.service.discovery.v3.DiscoveryResponse';

export interface ReadOptions {
  /** What becomes of fields that nobody knows. */
  readonly unknownFields: 'refused' | 'told' | 'passed over';
}

export interface ResourceFile {
  readonly version: string;
  /** Decoded, each with its type. */
  readonly resources: readonly PlainObject[];
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

/** Never throws. */
export function readResourceFile(path: string, options: ReadOptions): ReadFile {
  const loaded = loadFile<DiscoveryResponse>(path, RESPONSE, 'a DiscoveryResponse', {
    unknownFields: options.unknownFields === 'refused' ? 'error' : 'warning',
  });
  const errors = loaded.issues.filter(({ severity }) => severity === 'error').map(formatIssue);
  const passesOver = options.unknownFields === 'passed over';
  const response = loaded.partial;
  if (errors.length > 0 || !response) {
    return { why: errors.join('\n'), isRefused: loaded.isWhole };
  }
  return {
    file: {
      version: response.version_info ?? '',
      resources: (response.resources ?? []) as readonly PlainObject[],
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
