// A message of protobuf's binary format that came in an Any: read, decoded and judged as a file is.
import { decodeMessage, type DecodeOptions } from './decode.js';
import { readAny } from './formats/pb.js';
import { formatPath } from './issues/field-path.js';
import type { Issue } from './issues/issue.js';
import { schema } from './schema/schema.js';
import type { PlainObject } from './values/objects.js';
import { validateMessage } from './validate.js';

/** It is read as the only one of such a list. */
const HOLDER = 'envoy.service.discovery.v3.DiscoveryResponse';
const PREFIX = 'resources[0]';

export interface LoadedAny {
  /** With its type under `$type`; what could be read, also where an issue is an error. */
  readonly message: PlainObject;
  /** Paths begin in the message. */
  readonly issues: readonly Issue[];
}

/** Never throws for what the bytes say. */
export function loadAny(url: string, bytes: Buffer, options: DecodeOptions): LoadedAny {
  const types = schema();
  const holder = types.getMessage(HOLDER);
  const { any, faults } = readAny(types, url, bytes);
  const decoded = decodeMessage(types, holder, { resources: [any] }, options);
  const broken = new Set(decoded.broken);
  const issues: Issue[] = [...decoded.issues];
  for (const { message, path, severity = 'error' } of faults) {
    issues.push({ severity, message, path: formatPath(['resources', 0, ...path]) });
    broken.add(formatPath(['resources', 0, ...path]));
  }
  issues.push(...validateMessage(types, holder, decoded.message, broken));
  const [message = {}] = (decoded.message['resources'] ?? []) as readonly PlainObject[];
  const heeded = issues.filter((issue) => !mayBeUnknown(issue));
  return { message, issues: heeded.map((issue) => ({ ...issue, path: inside(issue.path) })) };
}

const CHOICE = /\bpolicies\[\d+\]\.typed_extension_config\.typed_config\["@type"\]$/;
const METADATA = /\btyped_filter_metadata[.[].*\["@type"\]$/;

/** As the real server: metadata that nobody asks for is not looked at, and of several balancers the first known counts. */
const mayBeUnknown = ({ code, path }: Issue): boolean =>
  code === 'unknown_type' && (CHOICE.test(path) || METADATA.test(path));

function inside(path: string): string {
  if (!path.startsWith(PREFIX)) return path;
  const rest = path.slice(PREFIX.length);
  return rest.startsWith('.') ? rest.slice(1) : rest;
}
