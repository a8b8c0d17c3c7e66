// The names under which the plan has route tables: each once, whatever the configuration calls them.
import type { RouteTable } from './plan.gen.js';
import type { FileSource } from './config-source.js';
import type { ChainFilter } from './chain-filter.js';

/** A route configuration of RDS. */
export interface RdsPlan {
  /** Of the RouteConfiguration. */
  readonly name: string;
  readonly source: FileSource;
  /** Of the first connection manager that asks for it: its statistics are there. */
  readonly statPrefix: string;
  /** Where tables made of it go. Managers whose routes mean the same share one. */
  readonly tables: readonly RdsTable[];
}

export interface RdsTable {
  /** The name under which the plan has it. */
  readonly slot: string;
  /** Of the HTTP filters before the router, in their order. */
  readonly chain: readonly ChainFilter[];
}

/** What a connection manager asks RDS for. */
export interface RdsRequest {
  readonly name: string;
  readonly source: FileSource;
  readonly statPrefix: string;
  readonly chain: readonly ChainFilter[];
}

export class RouteSlots {
  readonly #names = new Set<string>();
  readonly #tables: RouteTable[] = [];
  readonly #requests = new Map<string, RdsPlan & { readonly tables: RdsTable[] }>();

  /** Tables that are written into listeners. */
  get tables(): readonly RouteTable[] {
    return this.#tables;
  }

  get requests(): readonly RdsPlan[] {
    return [...this.#requests.values()];
  }

  /** They need not have names, nor different ones: a number tells them apart. */
  add(table: RouteTable): string {
    const name = this.#take(table.name ?? '');
    this.#tables.push({ ...table, name });
    return name;
  }

  /** Where a table will be that comes later. */
  request({ name, source, statPrefix, chain }: RdsRequest): string {
    const key = JSON.stringify([name, source]);
    let plan = this.#requests.get(key);
    if (!plan) {
      plan = { name, source, statPrefix, tables: [] };
      this.#requests.set(key, plan);
    }
    const filters = JSON.stringify(chain);
    const known = plan.tables.find((table) => JSON.stringify(table.chain) === filters);
    if (known) return known.slot;
    const slot = this.#take(name);
    plan.tables.push({ slot, chain });
    return slot;
  }

  #take(wanted: string): string {
    let name = wanted;
    for (let number = 2; this.#names.has(name); number++) name = `${wanted}#${number}`;
    this.#names.add(name);
    return name;
  }
}
