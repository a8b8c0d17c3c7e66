// All runtime layers as they were at one time.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_bootstrap_v3_RuntimeLayer as LayerMessage,
} from '../../build/messages.gen.js';
import { RuntimeValues } from '../plan/runtime/runtime.js';
import { diskFolder, readDiskLayer } from './disk-layer.js';
import { structEntries, type RuntimeEntries, type RuntimeLayer } from './layer.js';

export interface RuntimeSource {
  readonly bootstrap: Bootstrap;
  /** Part of the path of some layers on disk. */
  readonly serviceCluster: string;
}

export interface RuntimeSnapshot {
  /** In their order: a later one wins. A layer on disk without a folder, or with a fault, is not there. */
  readonly layers: readonly RuntimeLayer[];
  readonly diskLayerCount: number;
  /** What could not be read. */
  readonly faults: readonly string[];
}

const NO_ENTRIES: RuntimeEntries = new Map();
const NO_LAYERS: ReadonlyMap<string, RuntimeEntries> = new Map();

/** `overrides`: what the admin interface has set; `fromRtds`: what layers of RTDS say, by name. */
export function takeSnapshot(
  { bootstrap, serviceCluster }: RuntimeSource,
  overrides = NO_ENTRIES,
  fromRtds = NO_LAYERS,
): RuntimeSnapshot {
  const layers: RuntimeLayer[] = [];
  const faults: string[] = [];
  let diskLayerCount = 0;
  for (const message of layerMessages(bootstrap)) {
    const { name = '', disk_layer: disk } = message;
    try {
      const entries = disk
        ? readDiskLayer(diskFolder(disk, serviceCluster))
        : message.rtds_layer
          ? (fromRtds.get(name) ?? NO_ENTRIES)
          : memoryEntries(message, overrides);
      if (!entries) continue;
      layers.push({ name, entries });
      if (disk) diskLayerCount++;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      faults.push(`error loading runtime values for layer ${name} from disk: ${why}`);
    }
  }
  return { layers, diskLayerCount, faults };
}

/** A layered runtime without layers still takes overrides. */
const ADMIN_ONLY: readonly LayerMessage[] = [{ admin_layer: {} }];

export function layerMessages({ layered_runtime: layered }: Bootstrap): readonly LayerMessage[] {
  if (!layered) return [];
  return layered.layers?.length ? layered.layers : ADMIN_ONLY;
}

export function keysOf({ layers }: RuntimeSnapshot): ReadonlySet<string> {
  return new Set(layers.flatMap(({ entries }) => [...entries.keys()]));
}

/** What counts, key by key. */
export function valuesOf({ layers }: RuntimeSnapshot): RuntimeValues {
  const values = new Map<string, unknown>();
  for (const { entries } of layers) for (const [key, { value }] of entries) values.set(key, value);
  return new RuntimeValues(values);
}

function memoryEntries(
  { admin_layer: admin, static_layer: struct = {} }: LayerMessage,
  overrides: RuntimeEntries,
): RuntimeEntries {
  return admin ? overrides : structEntries(struct);
}
