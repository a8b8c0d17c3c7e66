// A filter chain of which some network filters come later: it is told anew as a whole, whenever one of
// them does. Connections that there are keep what they came with.
import type { NetworkFilterPlan } from '../extension-plans.js';
import type { FilterChain } from '../plan.gen.js';

/** Chains of all listeners have numbers of their own, up to the end of the process. */
let lastChainId = 0;

export const nextChainId = (): number => ++lastChainId;

/** What the filters of a chain become together: one of them ends it, others add to it. */
export function mergeFilters(parts: readonly NetworkFilterPlan[]): NetworkFilterPlan {
  const gates = parts.flatMap((part) => part.gates ?? []);
  const states = parts.flatMap((part) => part.states ?? []);
  const guards = parts.flatMap((part) => part.guards ?? []);
  return {
    ...(Object.assign({}, ...parts) as NetworkFilterPlan),
    ...(states.length > 0 && { states }),
    ...(gates.length > 0 && { gates }),
    ...(guards.length > 0 && { guards }),
  };
}

export type ChangePart = (part: NetworkFilterPlan) => NetworkFilterPlan;

/** Nobody gets through. */
const MISSING: NetworkFilterPlan = { guards: [{ lacks_filter: true }] };

export class DiscoveredChain {
  readonly #id: number;
  /** By their places; undefined: it has not come. */
  readonly #parts: (NetworkFilterPlan | undefined)[];
  /** All but its filters. */
  #rest: FilterChain = {};

  constructor(id: number, parts: readonly (NetworkFilterPlan | undefined)[]) {
    this.#id = id;
    this.#parts = [...parts];
  }

  /** With what stands in each place now. `rest`: all but its filters. */
  plan(rest: FilterChain = this.#rest): FilterChain {
    this.#rest = rest;
    return { ...rest, ...mergeFilters(this.#parts.map((part) => part ?? MISSING)), id: this.#id };
  }

  set(index: number, part: NetworkFilterPlan | undefined): void {
    this.#parts[index] = part;
  }

  /** What is in that place says something else. */
  change(index: number, change: ChangePart): void {
    const part = this.#parts[index];
    if (part) this.#parts[index] = change(part);
  }
}
