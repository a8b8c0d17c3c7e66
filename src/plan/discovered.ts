// Filters whose configuration comes by ECDS: where they stand, and what is asked for.
import type { Any } from '../../build/messages.gen.js';
import type { Place } from './message/place.js';
import type { Update } from './plan.gen.js';
import type { Source } from './sources.js';

/** As statistics call them. */
export type DiscoveredKind =
  'http_filter' | 'network_filter' | 'tcp_listener_filter' | 'upstream_http_filter';

/** So that a filter, or nothing, is in its place. */
export interface Filling {
  /** What the data plane is told. */
  readonly update: () => Update;
  /** It has taken that: what it is told next. */
  readonly onPlaced?: () => Update;
  /** It is not used after all. */
  readonly onDropped?: () => void;
}

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
  /** Nobody has the place any more: what the data plane is told. */
  readonly onGone: () => Update;
}

/** Where filter chains leave such places. */
export interface DiscoveredPlaces {
  add(place: DiscoveredPlace): void;
  /** What has come already; undefined: nothing. */
  latest(kind: DiscoveredKind, name: string, source: Source): Any | undefined;
  /** Filters that came later have such places of their own, and routes: some have come, and some gone. */
  onNested(come: readonly DiscoveredPlace[], gone: readonly DiscoveredPlace[]): void;
}

/** Who knows what has come. */
export type DiscoveredSource = Pick<DiscoveredPlaces, 'latest' | 'onNested'>;

/** A list of them, of what is compiled later. */
export class LaterPlaces implements DiscoveredPlaces {
  readonly all: DiscoveredPlace[] = [];
  readonly #source: DiscoveredSource;

  constructor(source: DiscoveredSource) {
    this.#source = source;
  }

  add(place: DiscoveredPlace): void {
    this.all.push(place);
  }

  latest(kind: DiscoveredKind, name: string, source: Source): Any | undefined {
    return this.#source.latest(kind, name, source);
  }

  onNested(come: readonly DiscoveredPlace[], gone: readonly DiscoveredPlace[]): void {
    this.#source.onNested(come, gone);
  }
}

/** Those of the bootstrap. */
export class BootstrapPlaces implements DiscoveredPlaces {
  readonly #all: DiscoveredPlace[] = [];
  #source: DiscoveredSource | undefined;

  get all(): readonly DiscoveredPlace[] {
    return this.#all;
  }

  add(place: DiscoveredPlace): void {
    this.#all.push(place);
  }

  latest(kind: DiscoveredKind, name: string, source: Source): Any | undefined {
    return this.#source?.latest(kind, name, source);
  }

  onNested(come: readonly DiscoveredPlace[], gone: readonly DiscoveredPlace[]): void {
    this.#source?.onNested(come, gone);
  }

  /** Who is asked once there is somebody. */
  ask(source: DiscoveredSource): void {
    this.#source = source;
  }
}

let lastId = 0;

/** Of HTTP and listener filters, as the data plane has them. */
export const nextDiscoveredId = (): number => ++lastId;
