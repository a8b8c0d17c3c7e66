// The names under which the plan has route tables: each once, whatever the configuration calls them.
import type { envoy_config_route_v3_RouteConfiguration as RouteConfiguration } from '../../build/messages.gen.js';
import type { RouteTable, ScopeFragment } from './plan.gen.js';
import type { Source } from './sources.js';
import type { ChainFilter } from './chain-filter.js';

/** Where a route configuration comes from: RDS; or it is written into a listener, and VHDS adds to it. */
export type RoutesFrom =
  | { readonly source: Source; readonly written?: undefined }
  | { readonly source?: undefined; readonly written: RouteConfiguration };

/** A route configuration that comes later, or changes. */
export type RdsPlan = RoutesFrom & {
  /** Of the RouteConfiguration. */
  readonly name: string;
  /** Of the first connection manager that asks for it: its statistics are there. */
  readonly statPrefix: string;
  /** Where tables made of it go. Managers whose routes mean the same share one. */
  readonly tables: readonly RdsTable[];
};

export interface RdsTable {
  /** The name under which the plan has it. */
  readonly slot: string;
  /** Of the HTTP filters before the router, in their order. */
  readonly chain: readonly ChainFilter[];
}

/** What a connection manager asks RDS or VHDS for. */
export type RdsRequest = RoutesFrom & {
  readonly name: string;
  readonly statPrefix: string;
  readonly chain: readonly ChainFilter[];
};

/** Scopes that come by SRDS: a table that names others. */
export interface SrdsPlan {
  /** Of the subscription: its statistics have it. */
  readonly name: string;
  readonly source: Source;
  /** As the collection of them is called; absent: all that there are. */
  readonly collection?: string;
  readonly statPrefix: string;
  readonly fragments: readonly ScopeFragment[];
  /** Of the filters that the tables' requests pass. */
  readonly chain: readonly ChainFilter[];
  /** Where route configurations come from that scopes name; absent: they have their own. */
  readonly routes?: Source;
  /** The name under which the plan has the table. */
  readonly slot: string;
}

/** What a connection manager asks SRDS for. */
export type SrdsRequest = Omit<SrdsPlan, 'slot'>;

/** Where connection managers leave what they need of routes; both answer with the name of the table. */
export interface RoutePlaces {
  /** A table that is written into a listener. It need not have a name, nor one of its own. */
  add(table: RouteTable): string;
  /** One that comes later. */
  request(request: RdsRequest): string;
  requestScopes(request: SrdsRequest): string;
  /** For something that comes later, and goes by itself. */
  later(): ChainRoutes;
}

type Requested = Omit<RdsPlan, 'tables'> & RoutesFrom & { readonly tables: SharedTable[] };

interface SharedTable extends RdsTable {
  /** Connection managers; those of the bootstrap stay. */
  users: number;
}

export class RouteSlots implements RoutePlaces {
  readonly #names = new Set<string>();
  #tables: RouteTable[] = [];
  readonly #requests = new Map<string, Requested>();
  readonly #scopes = new Map<string, { readonly plan: SrdsPlan; users: number }>();

  /** Tables that are written into listeners of the bootstrap, which are not kept here afterwards. */
  takeTables(): readonly RouteTable[] {
    const tables = this.#tables;
    this.#tables = [];
    return tables;
  }

  /** The same plan is the same object each time. */
  get requests(): readonly RdsPlan[] {
    return [...this.#requests.values()];
  }

  /** The same plan is the same object each time. */
  get scopes(): readonly SrdsPlan[] {
    return [...this.#scopes.values()].map(({ plan }) => plan);
  }

  add(table: RouteTable): string {
    const name = this.take(table.name ?? '');
    this.#tables.push({ ...table, name });
    return name;
  }

  requestScopes(request: SrdsRequest): string {
    const key = JSON.stringify(request);
    const known = this.#scopes.get(key);
    if (known) {
      known.users++;
      return known.plan.slot;
    }
    const slot = this.take(request.name);
    this.#scopes.set(key, { plan: { ...request, slot }, users: 1 });
    return slot;
  }

  /** `own`: the name of a table that nobody shares, which was taken for it. */
  request({ chain, statPrefix, name, ...from }: RdsRequest, own?: string): string {
    const key = JSON.stringify([name, from]);
    let plan = this.#requests.get(key);
    if (!plan) {
      plan = { ...from, name, statPrefix, tables: [] };
      this.#requests.set(key, plan);
    }
    const filters = JSON.stringify(chain);
    const known = plan.tables.find((table) => JSON.stringify(table.chain) === filters);
    if (known && own === undefined) {
      known.users++;
      return known.slot;
    }
    const slot = own ?? this.take(name);
    plan.tables.push({ slot, chain, users: 1 });
    return slot;
  }

  later(): ChainRoutes {
    return new ChainRoutes(this);
  }

  /** A name like the wanted one, which nobody else has: a number tells them apart. */
  take(wanted: string): string {
    let name = wanted;
    for (let number = 2; this.#names.has(name); number++) name = `${wanted}#${number}`;
    this.#names.add(name);
    return name;
  }

  giveBack(name: string): void {
    this.#names.delete(name);
  }

  /**
   * A connection manager that asked for it is gone. Whether it was the last; `keepsName`: nobody is
   * given its name then.
   */
  leave(slot: string, keepsName = false): boolean {
    for (const [key, scopes] of this.#scopes) {
      if (scopes.plan.slot !== slot) continue;
      scopes.users--;
      if (scopes.users > 0) return false;
      this.#scopes.delete(key);
      if (!keepsName) this.giveBack(slot);
      return true;
    }
    for (const [key, plan] of this.#requests) {
      const index = plan.tables.findIndex((table) => table.slot === slot);
      const table = plan.tables[index];
      if (!table) continue;
      table.users--;
      if (table.users > 0) return false;
      plan.tables.splice(index, 1);
      if (plan.tables.length === 0) this.#requests.delete(key);
      if (!keepsName) this.giveBack(slot);
      return true;
    }
    return false;
  }
}

/** What one filter chain has of routes, which comes and goes with it. */
export class ChainRoutes implements RoutePlaces {
  readonly #slots: RouteSlots;
  readonly #tables: RouteTable[] = [];
  readonly #requested: string[] = [];
  #hasScopes = false;

  constructor(slots: RouteSlots) {
    this.#slots = slots;
  }

  get tables(): readonly RouteTable[] {
    return this.#tables;
  }

  /** Tables that come from control planes. */
  get requested(): readonly string[] {
    return this.#requested;
  }

  /** Some of them name others. */
  get hasScopes(): boolean {
    return this.#hasScopes;
  }

  /** Some of its routes come from control planes. */
  get hasRequests(): boolean {
    return this.#requested.length > 0;
  }

  later(): ChainRoutes {
    return new ChainRoutes(this.#slots);
  }

  add(table: RouteTable): string {
    const name = this.#slots.take(table.name ?? '');
    this.#tables.push({ ...table, name });
    return name;
  }

  request(request: RdsRequest, own?: string): string {
    const slot = this.#slots.request(request, own);
    this.#requested.push(slot);
    return slot;
  }

  requestScopes(request: SrdsRequest): string {
    const slot = this.#slots.requestScopes(request);
    this.#hasScopes = true;
    this.#requested.push(slot);
    return slot;
  }

  /** Nobody uses the chain any more. The tables that are no one's now. */
  release(): readonly string[] {
    const own = this.#tables.map(({ name = '' }) => name);
    for (const name of own) this.#slots.giveBack(name);
    return [...own, ...this.#requested.filter((slot) => this.#slots.leave(slot))];
  }

  /** As release; connections may go by them yet, so that nobody else is given their names. */
  leave(): readonly string[] {
    const own = this.#tables.map(({ name = '' }) => name);
    return [...own, ...this.#requested.filter((slot) => this.#slots.leave(slot, true))];
  }
}
