import type { Source } from '../sources.js';
import type { HostNeeds } from './host-needs.js';

/** The assignment of a cluster of the type EDS. */
export interface EdsPlan {
  readonly cluster: string;
  /** What its assignment calls it; '': by its own name. */
  readonly serviceName: string;
  readonly source: Source;
  /** Of its endpoints. */
  readonly needs?: HostNeeds;
}
