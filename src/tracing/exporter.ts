// What takes spans away from here, and what it needs of the server around it.
import type { LocalSpans } from './local-spans.js';
import type { SpanRecord } from './span-record.js';

/** On the control thread. Nothing of it throws: what cannot be sent is lost, and counted. */
export interface SpanExporter {
  /** What one turn brought, in the order in which spans ended. */
  add(spans: readonly SpanRecord[]): void;
  /** Sends what there is; resolves when it has left, or cannot. */
  close(): Promise<void>;
}

export interface ExporterHost {
  readonly local: LocalSpans;
  /** Of the runtime, now. */
  number(key: string, fallback: number): number;
  /** Adds to a statistic by its full name. */
  count(name: string, amount?: number): void;
  warn(message: string): void;
  info(message: string): void;
}
