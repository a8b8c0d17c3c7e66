// Route configurations that come by RDS.
import type { envoy_config_route_v3_RouteConfiguration as RouteConfiguration } from '../../build/messages.gen.js';
import { formatIssue, type Issue } from '../config/issues/issue.js';
import type { NativeProxy } from '../native.js';
import type { CompileContext } from '../plan/extension.js';
import { Place } from '../plan/message/place.js';
import { encodeUpdate, type RouteTable } from '../plan/plan.gen.js';
import { compileRouteTable } from '../plan/route/route-table.js';
import type { RdsPlan, RdsTable } from '../plan/route-slots.js';
import { RDS } from './api.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';

export interface DynamicRoutes {
  readonly version: string;
  readonly message: RouteConfiguration;
  /** Milliseconds since 1970. */
  readonly updatedMs: number;
}

export class RouteSubscription {
  readonly #plan: RdsPlan;
  readonly #native: NativeProxy;
  readonly #context: CompileContext;
  readonly #host: Subscribing;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  #current: DynamicRoutes | undefined;
  #onFirst: () => void = () => undefined;
  /** Slots whose tables are made of it. */
  readonly #filled = new Set<string>();

  constructor(plan: RdsPlan, native: NativeProxy, context: CompileContext, host: Subscribing) {
    this.#plan = plan;
    this.#native = native;
    this.#context = context;
    this.#host = host;
    this.#statPrefix = native.addRdsStats(plan.statPrefix, plan.name);
    this.#subscription = new Subscription(
      {
        source: plan.source,
        statPrefix: this.#statPrefix,
        api: RDS,
        names: [plan.name],
        target: `RdsRouteConfigSubscription RDS init ${plan.name}`,
        judge: (resources, version) => this.#judge(resources, version),
      },
      host,
    );
  }

  /** Undefined before the first. */
  get current(): DynamicRoutes | undefined {
    return this.#current;
  }

  /** `onFirst`: routes have come, or are not waited for any longer. */
  start(onFirst: () => void): void {
    this.#onFirst = onFirst;
    this.#subscription.start(onFirst);
  }

  stop(): void {
    this.#subscription.stop();
  }

  /** Nobody asks for it any more: its statistics end with it. */
  end(): void {
    this.stop();
    this.#onFirst();
    this.#native.removeStats(this.#statPrefix);
  }

  /** Another listener asks for these routes, in another way: what has come is in use there too. */
  fillNewTables(): void {
    const slots = new Set(this.#plan.tables.map(({ slot }) => slot));
    for (const slot of this.#filled) if (!slots.has(slot)) this.#filled.delete(slot);
    const message = this.#current?.message;
    if (!message) return;
    const issues: Issue[] = [];
    const fresh = this.#plan.tables.filter(({ slot }) => !this.#filled.has(slot));
    const tables = this.#compile(fresh, message, Place.root(issues));
    const errors = issues.filter(({ severity }) => severity === 'error').map(formatIssue);
    if (errors.length === 0 && tables.length > 0) errors.push(...this.#fill(tables));
    for (const error of errors) this.#host.log('warning', `routes '${this.#plan.name}': ${error}`);
  }

  #compile(
    tables: readonly RdsTable[],
    message: RouteConfiguration,
    place: Place,
  ): readonly RouteTable[] {
    return tables.map(({ slot, chain }) => ({
      ...compileRouteTable(message, place, this.#context, { validatesClusters: false, chain }),
      name: slot,
    }));
  }

  /** What is wrong. */
  #fill(tables: readonly RouteTable[]): readonly string[] {
    const errors = this.#native.apply(encodeUpdate({ route_tables: tables }));
    if (errors.length === 0) for (const { name = '' } of tables) this.#filled.add(name);
    return errors.map((error) => error.message);
  }

  #judge(resources: readonly Resource[], version: string): string | Commit {
    const [first] = resources;
    const { name } = this.#plan;
    if (!first) {
      this.#host.log('debug', `Missing RDS RouteConfiguration for ${name} in onConfigUpdate()`);
      return () => {
        this.#host.stats.count(`${this.#statPrefix}update_empty`);
        return undefined;
      };
    }
    if (resources.length > 1) return `Unexpected RDS resource length: ${resources.length}`;
    const message = first.message as RouteConfiguration;
    if (message.name !== name) {
      return `Unexpected RDS configuration (expecting ${name}): ${message.name ?? ''}`;
    }
    const tables = this.#compile(this.#plan.tables, message, first.place);
    return () => {
      if (JSON.stringify(message) === JSON.stringify(this.#current?.message)) return undefined;
      const errors = this.#fill(tables);
      if (errors.length > 0) return errors.join('\n');
      const updatedMs = Date.now();
      this.#current = { version: first.version || version, message, updatedMs };
      this.#host.stats.count(`${this.#statPrefix}config_reload`);
      this.#host.stats.setGauge(`${this.#statPrefix}config_reload_time_ms`, updatedMs);
      return undefined;
    };
  }
}
