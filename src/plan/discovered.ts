// Filters whose configuration comes by ECDS: where they stand, and what is asked for.
import type { Any } from '../../build/messages.gen.js';
import type { Place } from './message/place.js';
import type { Update } from './plan.gen.js';
import type { Source } from './sources.js';

/** As statistics call them. */
export type DiscoveredKind = 'http_filter' | 'network_filter' | 'tcp_listener_filter';

/** What the data plane is told, so that a filter is in its place. */
export type Filling = () => Update;

/** A filter in its place of a chain. */
export interface DiscoveredPlace {
  readonly kind: DiscoveredKind;
  /** As the resource is called. */
  readonly name: string;
  readonly source: Source;
  /** Used while nothing has come; absent: requests or connections are refused meanwhile. */
  readonly fallback?: Filling;
  /** Nobody waits for what comes. */
  readonly needsNoWarming: boolean;
  /** What is wrong goes to `place`. Undefined after an error. */
  readonly compile: (config: Any, place: Place) => Filling | undefined;
  /** Nothing stands there. */
  readonly clear: Filling;
}

/** Where filter chains leave such places. */
export interface DiscoveredPlaces {
  add(place: DiscoveredPlace): void;
  /** What has come already; undefined: nothing. */
  latest(kind: DiscoveredKind, name: string, source: Source): Any | undefined;
}

/** Those of the bootstrap. */
export class BootstrapPlaces implements DiscoveredPlaces {
  readonly #all: DiscoveredPlace[] = [];
  #find: DiscoveredPlaces['latest'] = () => undefined;

  get all(): readonly DiscoveredPlace[] {
    return this.#all;
  }

  add(place: DiscoveredPlace): void {
    this.#all.push(place);
  }

  latest(kind: DiscoveredKind, name: string, source: Source): Any | undefined {
    return this.#find(kind, name, source);
  }

  /** Who knows what has come, once there is somebody. */
  ask(find: DiscoveredPlaces['latest']): void {
    this.#find = find;
  }
}

let lastId = 0;

/** Of HTTP and listener filters, as the data plane has them. */
export const nextDiscoveredId = (): number => ++lastId;
