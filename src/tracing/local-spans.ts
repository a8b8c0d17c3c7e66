// What all spans say of this process.
import { hasFlag, type SpanRecord } from './span-record.js';

export interface LocalSpans {
  readonly nodeId: string;
  readonly zone: string;
  readonly serviceCluster: string;
  /** As others reach it. */
  readonly address: string;
  /** Each of them has buffers of its own, and one that has none: the real server's main thread. */
  readonly threads: number;
}

/** First the node's, of a request's own span; of two of a name the last. */
export function tagsOf(span: SpanRecord, local: LocalSpans): Map<string, TypedTag> {
  const tags = new Map<string, TypedTag>();
  const put = (name: string, value: string, type = 0): void => {
    if (name !== '') tags.set(name, { value, type });
  };
  if (!hasFlag(span, 'child')) {
    put('node_id', local.nodeId);
    put('zone', local.zone);
  }
  for (const { name, value, type } of span.tags.values()) put(name, value, type);
  return tags;
}

export interface TypedTag {
  readonly value: string;
  readonly type: number;
}
