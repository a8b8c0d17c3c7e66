// The statistics that the control thread writes, by their full names; a name's handle is looked up once.
import type { NativeProxy } from '../native.js';
import type { StatHandle } from '../native-stats.js';
import { RecentLookups } from './recent-lookups.js';

type StatsNative = Pick<
  NativeProxy,
  | 'stat'
  | 'isStat'
  | 'counterAdd'
  | 'gaugeSet'
  | 'histogramRecord'
  | 'textSet'
  | 'addTo'
  | 'tellUpdate'
>;

/** Fewer handles than these are not looked through for such as are no longer. */
const FEW_HANDLES = 256;

/** What is written to a scope that has ended is lost, until there is one of its name again. */
export class ControlStats {
  /** Those by name: what is known by its handle is not looked up. */
  readonly lookups = new RecentLookups();
  readonly #native: StatsNative;
  readonly #handles = new Map<string, StatHandle>();
  #deprecatedUses = 0;
  readonly #unknownKinds = new Set<string>();
  #manyHandles = FEW_HANDLES;

  constructor(native: StatsNative) {
    this.#native = native;
  }

  /** How many names have a handle. */
  get size(): number {
    return this.#handles.size;
  }

  count(name: string, amount = 1): void {
    this.#write(name, (handle) => this.#native.counterAdd(handle, amount));
  }

  setGauge(name: string, value: number): void {
    this.#write(name, (handle) => this.#native.gaugeSet(handle, value));
  }

  /** So many uses of what is deprecated. */
  countDeprecated(uses: number): void {
    if (uses === 0) return;
    this.#deprecatedUses += uses;
    this.count('runtime.deprecated_feature_use', uses);
    this.setGauge('runtime.deprecated_feature_seen_since_process_start', this.#deprecatedUses);
  }

  /** Of what comes while the server runs; false: that has been told before. */
  countUnknown(kind: string): boolean {
    if (this.#unknownKinds.has(kind)) return false;
    this.#unknownKinds.add(kind);
    this.count('server.dynamic_unknown_fields');
    return true;
  }

  setText(name: string, text: string): void {
    this.#write(name, (handle) => this.#native.textSet(handle, text));
  }

  /** As count(), of one among thousands that nobody counts often: no handle is kept. */
  countSeldom(name: string): void {
    this.lookups.note(name);
    this.#native.addTo(name, 1);
  }

  /** All that changes with an update of a subscription; `startedMs`: of performance.now(). */
  tellUpdate(prefix: string, version: string, startedMs: number): void {
    const durationMs = Math.round(performance.now() - startedMs);
    this.#native.tellUpdate(prefix, version, Date.now(), durationMs);
  }

  record(name: string, value: number): void {
    this.#write(name, (handle) => this.#native.histogramRecord(handle, value));
  }

  #write(name: string, write: (handle: StatHandle) => boolean): void {
    const known = this.#handles.get(name);
    if (known !== undefined && write(known)) return;
    const handle = this.#native.stat(name);
    if (handle === undefined) {
      this.#handles.delete(name);
      return;
    }
    this.lookups.note(name);
    this.#handles.set(name, handle);
    if (this.#handles.size > this.#manyHandles) this.#forgetEnded();
    write(handle);
  }

  #forgetEnded(): void {
    for (const [name, handle] of this.#handles)
      if (!this.#native.isStat(handle)) this.#handles.delete(name);
    this.#manyHandles = Math.max(FEW_HANDLES, 2 * this.#handles.size);
  }
}
