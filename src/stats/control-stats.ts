// The statistics that the control thread writes, by their full names; a name's handle is looked up once.
import type { NativeProxy, StatHandle } from '../native.js';
import { RecentLookups } from './recent-lookups.js';

export class ControlStats {
  /** Those by name: what is known by its handle is not looked up. */
  readonly lookups = new RecentLookups();
  readonly #native: NativeProxy;
  readonly #handles = new Map<string, StatHandle>();

  constructor(native: NativeProxy) {
    this.#native = native;
  }

  count(name: string, amount = 1): void {
    this.#native.counterAdd(this.#handle(name), amount);
  }

  setGauge(name: string, value: number): void {
    this.#native.gaugeSet(this.#handle(name), value);
  }

  /** To the hash of a text. */
  setHash(name: string, text: string): void {
    this.#native.gaugeSetHash(this.#handle(name), text);
  }

  setText(name: string, text: string): void {
    this.#native.textSet(this.#handle(name), text);
  }

  record(name: string, value: number): void {
    this.#native.histogramRecord(this.#handle(name), value);
  }

  /** What begins so has gone, and is there anew: it is looked up again. */
  renew(prefix: string): void {
    for (const name of this.#handles.keys())
      if (name.startsWith(prefix)) this.#handles.delete(name);
  }

  #handle(name: string): StatHandle {
    let handle = this.#handles.get(name);
    if (handle === undefined) {
      handle = this.#native.stat(name);
      this.lookups.note(name);
      this.#handles.set(name, handle);
    }
    return handle;
  }
}
