// The runtime while the server runs: follows layers on disk, takes overrides, counts.
import type { ClusterRuntime, FaultRuntime } from '../plan/plan.gen.js';
import type { RuntimeReads } from '../plan/runtime/runtime-reads.js';
import type { ControlStats } from '../stats/control-stats.js';
import { clusterOverrides } from './cluster-overrides.js';
import { DiskWatch } from './disk-watch.js';
import { faultOverrides } from './fault-overrides.js';
import type { PlainObject } from '../config/values/objects.js';
import { readEntry, structEntries, type RuntimeEntries, type RuntimeEntry } from './layer.js';
import {
  keysOf,
  layerMessages,
  takeSnapshot,
  valuesOf,
  type RuntimeSnapshot,
  type RuntimeSource,
} from './snapshot.js';

export interface RuntimeHooks {
  readonly stats: ControlStats;
  /** What the plans were compiled with. */
  readonly reads: RuntimeReads;
  /** The values of the plans' slots, in their order. */
  readonly setSlots: (values: readonly number[]) => void;
  /** What there is to say of single clusters, and what is to be said no more. */
  readonly setClusters: (clusters: readonly ClusterRuntime[]) => void;
  /** The same of faults for single downstream clusters. */
  readonly setFaults: (faults: readonly FaultRuntime[]) => void;
  readonly log: (level: 'debug' | 'warning', message: string) => void;
}

/** Why overrides were refused: none of them was set. */
export interface RuntimeRefusal {
  readonly why: string;
}

export class Runtime {
  readonly #source: RuntimeSource;
  readonly #hooks: RuntimeHooks;
  #snapshot: RuntimeSnapshot;
  #overrides: RuntimeEntries = new Map();
  /** By layer. */
  readonly #fromRtds = new Map<string, RuntimeEntries>();
  #clusters: ReadonlyMap<string, ClusterRuntime> = new Map();
  #faults: ReadonlyMap<string, FaultRuntime> = new Map();
  #watches: DiskWatch[] = [];

  /** `first`: what the plans were compiled with. */
  constructor(source: RuntimeSource, first: RuntimeSnapshot, hooks: RuntimeHooks) {
    this.#source = source;
    this.#hooks = hooks;
    this.#snapshot = first;
    this.#count();
  }

  get snapshot(): RuntimeSnapshot {
    return this.#snapshot;
  }

  /** From here on it follows the disk, and has what changed there since the first snapshot. */
  start(): void {
    const roots = layerMessages(this.#source.bootstrap).flatMap(
      ({ disk_layer: disk }) => disk?.symlink_root ?? [],
    );
    this.#watches = roots.map((root) => new DiskWatch(root, () => this.#reload()));
    this.#reload();
  }

  /** What a layer of RTDS says from now on. */
  useLayer(name: string, values: PlainObject): void {
    this.#fromRtds.set(name, structEntries(values));
    this.#reload();
  }

  stop(): void {
    for (const watch of this.#watches) watch.close();
    this.#watches = [];
  }

  /** Adds overrides, and takes those back whose value is empty. */
  modify(changes: ReadonlyMap<string, string>): RuntimeRefusal | undefined {
    const { bootstrap } = this.#source;
    if (!layerMessages(bootstrap).some(({ admin_layer: admin }) => admin !== undefined)) {
      return { why: 'No admin layer specified' };
    }
    const overrides = new Map<string, RuntimeEntry>(this.#overrides);
    for (const [key, text] of changes) {
      overrides.delete(key);
      if (text === '') continue;
      const entry = readEntry(text);
      if ('fault' in entry) {
        // As the real server: what was set before is gone with the next change.
        this.#overrides = new Map([...this.#overrides].filter(([known]) => known !== key));
        return { why: entry.fault };
      }
      overrides.set(key, entry);
    }
    const snapshot = takeSnapshot(this.#source, overrides, this.#fromRtds);
    const missed = this.#missedKeys(snapshot).filter((key) => changes.has(key));
    if (missed.length > 0) {
      return { why: `read at the start only, so that it cannot be changed: ${missed.join(', ')}` };
    }
    this.#overrides = overrides;
    this.#hooks.stats.setGauge('runtime.admin_overrides_active', overrides.size > 0 ? 1 : 0);
    this.#use(snapshot);
    return undefined;
  }

  #reload(): void {
    const before = new Set(this.#missedKeys(this.#snapshot));
    this.#use(takeSnapshot(this.#source, this.#overrides, this.#fromRtds));
    for (const key of this.#missedKeys(this.#snapshot)) {
      if (before.has(key)) continue;
      this.#hooks.log(
        'warning',
        `runtime: ${key} is read at the start only: its change has no effect`,
      );
    }
  }

  #missedKeys(snapshot: RuntimeSnapshot): readonly string[] {
    return this.#hooks.reads.missedKeys(valuesOf(snapshot));
  }

  #use(snapshot: RuntimeSnapshot): void {
    this.#snapshot = snapshot;
    for (const fault of snapshot.faults) this.#hooks.log('debug', fault);
    const slots = this.#hooks.reads.slotValues(valuesOf(snapshot));
    if (slots.length > 0) this.#hooks.setSlots(slots);
    this.#tellClusters();
    this.#tellFaults();
    this.#count();
  }

  #tellClusters(): void {
    const before = this.#clusters;
    this.#clusters = clusterOverrides(this.#snapshot);
    const gone = [...before.keys()].filter((name) => !this.#clusters.has(name));
    const told = [...gone.map((name) => ({ cluster_name: name })), ...this.#clusters.values()];
    if (told.length > 0) this.#hooks.setClusters(told);
  }

  #tellFaults(): void {
    const before = this.#faults;
    this.#faults = faultOverrides(this.#snapshot);
    const gone = [...before.keys()].filter((cluster) => !this.#faults.has(cluster));
    const told = [...gone.map((cluster) => ({ cluster })), ...this.#faults.values()];
    if (told.length > 0) this.#hooks.setFaults(told);
  }

  #count(): void {
    const { stats } = this.#hooks;
    const { layers, diskLayerCount, faults } = this.#snapshot;
    stats.setGauge('runtime.num_layers', layers.length);
    stats.setGauge('runtime.num_keys', keysOf(this.#snapshot).size);
    stats.count(faults.length === 0 ? 'runtime.load_success' : 'runtime.load_error');
    // Of a second layer on disk the real server says that it overrides the first.
    const overrides = diskLayerCount > 1;
    stats.count(overrides ? 'runtime.override_dir_exists' : 'runtime.override_dir_not_exists');
  }
}
