import type { FileSource } from '../config-source.js';

/** The assignment of a cluster of the type EDS. */
export interface EdsPlan {
  readonly cluster: string;
  /** What its assignment calls it. */
  readonly serviceName: string;
  readonly source: FileSource;
}
