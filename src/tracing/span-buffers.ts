// Spans that wait to be sent together: those of each worker apart, as the real server has it.
import type { SpanRecord } from './span-record.js';

/** So many more than are sent together mean that there is no time for sending few. */
const BUSY = 16;

export class SpanBuffers {
  readonly #byWorker = new Map<number, SpanRecord[]>();

  /** Of the worker. */
  add(span: SpanRecord): SpanRecord[] {
    const known = this.#byWorker.get(span.worker);
    if (known) {
      known.push(span);
      return known;
    }
    const made = [span];
    this.#byWorker.set(span.worker, made);
    return made;
  }

  sizeOf(worker: number): number {
    return this.#byWorker.get(worker)?.length ?? 0;
  }

  /** All groups of `size`; where many wait, all that do. */
  *full(size: number): Generator<readonly SpanRecord[]> {
    for (const spans of this.#byWorker.values()) {
      if (spans.length > size * BUSY) yield spans.splice(0);
      while (spans.length >= Math.max(1, size)) yield spans.splice(0, Math.max(1, size));
    }
  }

  *rest(): Generator<readonly SpanRecord[]> {
    for (const spans of this.#byWorker.values()) if (spans.length > 0) yield spans.splice(0);
  }
}
