// Which metadata of routes, clusters and hosts tags of spans name: only that goes to the data plane.
import type { envoy_config_core_v3_Metadata as Metadata } from '../../build/messages.gen.js';
import { metadataValues } from './format/metadata-values.js';
import type { TagMetadata } from './plan.gen.js';

export type TaggedKind = 'route' | 'cluster' | 'host';

export class TagNames {
  readonly #spaces: Readonly<Record<TaggedKind, Set<string>>> = {
    route: new Set(),
    cluster: new Set(),
    host: new Set(),
  };

  /** Of all that a bootstrap says, before any of it is compiled: what it speaks of may come first. */
  static in(message: unknown): TagNames {
    const names = new TagNames();
    names.#visit(message);
    return names;
  }

  add(kind: TaggedKind, space: string): void {
    this.#spaces[kind].add(space);
  }

  /** Undefined: no tag names any of it. */
  metadataOf(kind: TaggedKind, metadata: Metadata | undefined): TagMetadata | undefined {
    const all = metadata?.filter_metadata ?? {};
    const spaces = [...this.#spaces[kind]].flatMap((name) => {
      const struct = all[name];
      return struct ? [{ name, values: metadataValues(struct) }] : [];
    });
    return spaces.length > 0 ? { spaces } : undefined;
  }

  #visit(value: unknown): void {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
    if ('custom_tags' in value && Array.isArray(value.custom_tags)) {
      for (const { metadata } of value.custom_tags as readonly {
        readonly metadata?: {
          readonly kind?: Readonly<Record<string, unknown>>;
          readonly metadata_key?: { readonly key?: string };
        };
      }[]) {
        for (const kind of ['route', 'cluster', 'host'] as const) {
          if (metadata?.kind?.[kind]) this.add(kind, metadata.metadata_key?.key ?? '');
        }
      }
    }
    for (const inner of Object.values(value)) this.#visit(inner);
  }
}
