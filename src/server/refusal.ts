import type { ApplyError } from '../native.js';

/** What the data plane refuses, and why. */
export function describeRefusal({ kind, name, message }: ApplyError): string {
  return kind === 'plan' ? message : `${kind.replace('_', ' ')} '${name}': ${message}`;
}
