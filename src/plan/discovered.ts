// Filters whose configuration comes by ECDS: where they stand, and what is asked for.
import type { Any } from '../../build/messages.gen.js';
import type { Place } from './message/place.js';
import type { HttpFilter } from './plan.gen.js';
import type { Source } from './sources.js';

/** An HTTP filter in its place of a chain. */
export interface DiscoveredPlace {
  /** Among all there ever are; the data plane has it under this number. */
  readonly id: number;
  /** As the resource is called. */
  readonly name: string;
  readonly source: Source;
  /** One of these it has to be. */
  readonly types: readonly string[];
  /** Used while nothing has come; absent: requests are refused meanwhile. */
  readonly fallback?: HttpFilter;
  /** Nobody waits for what comes. */
  readonly needsNoWarming: boolean;
  /** What is wrong goes to `place`. Undefined after an error. */
  readonly compile: (config: Any, place: Place) => HttpFilter | undefined;
}

/** Where connection managers leave such places. */
export interface DiscoveredPlaces {
  add(place: DiscoveredPlace): void;
}

let lastId = 0;

export const nextDiscoveredId = (): number => ++lastId;
