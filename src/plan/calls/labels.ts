// What services are told of this proxy.
import type { CompileContext } from '../extension.js';
import type { TextPair } from '../plan.gen.js';

/** Text alone: what else the node's metadata has there is no label. */
export function compileLabels(
  key: string | undefined,
  { nodeMetadata }: Pick<CompileContext, 'nodeMetadata'>,
): TextPair[] {
  const labels = key ? nodeMetadata[key] : undefined;
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels)) return [];
  return Object.entries(labels).map(([name, value]) => ({
    key: name,
    value: typeof value === 'string' ? value : '',
  }));
}
