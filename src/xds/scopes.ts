// Scopes that come by SRDS: which route configuration a request goes by. All of them with each update, or what has
// changed of them; the first that is wrong refuses what comes behind it.
import type { envoy_config_route_v3_ScopedRouteConfiguration as ScopeMessage } from '../../build/messages.gen.js';
import type { Issue } from '../config/issues/issue.js';
import type { NativeProxy } from '../native.js';
import type { LaterContext } from '../plan/compiled.js';
import { refuseOtherFields } from '../plan/message/supported-fields.js';
import { encodeUpdate, type RouteScope, type RouteTable } from '../plan/plan.gen.js';
import { ChainRoutes, type SrdsPlan } from '../plan/route-slots.js';
import { checkBacking } from '../plan/config-source.js';
import { compileRouteTable } from '../plan/route/route-table.js';
import { SCOPE, keyOf, refuseSameScopes } from '../plan/route/scopes.js';
import { HeldSecrets } from '../plan/live-sources.js';
import { Place } from '../plan/message/place.js';
import { SRDS } from './api.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';

export interface DynamicScope {
  readonly version: string;
  readonly message: ScopeMessage;
  /** Milliseconds since 1970. */
  readonly updatedMs: number;
}

export interface ScopeEvents {
  /** Other route configurations are wanted. */
  onRoutes(): void;
  /** Of all clusters that there are. */
  clusterNames(): ReadonlySet<string>;
}

/** A scope in use, and the tables that are only there for it. */
interface Scope extends DynamicScope {
  readonly routes: ChainRoutes;
  /** Of formats and filters of its own table. */
  readonly secrets: HeldSecrets;
  readonly plan: RouteScope;
  /** Asks for its routes, where those are not asked for before a request wants them. */
  readonly begin?: () => void;
}

/** Its tables, of which none is in use any more. */
function release({ routes, secrets }: Scope): readonly string[] {
  secrets.release();
  return routes.release();
}

export class ScopeSubscription {
  readonly #plan: SrdsPlan;
  readonly #native: NativeProxy;
  readonly #context: LaterContext;
  readonly #host: Subscribing;
  readonly #events: ScopeEvents;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  #scopes: ReadonlyMap<string, Scope> = new Map();
  #version = '';
  #hasCome = false;
  #onFirst: () => void = () => undefined;
  /** By tables, whose routes nobody has asked for. */
  readonly #lazy = new Map<string, () => void>();
  #hasOnDemand = false;
  #hasActive = false;

  constructor(
    plan: SrdsPlan,
    native: NativeProxy,
    context: LaterContext,
    host: Subscribing,
    events: ScopeEvents,
  ) {
    this.#plan = plan;
    this.#native = native;
    this.#context = context;
    this.#host = host;
    this.#events = events;
    this.#statPrefix = native.addScopedRdsStats(plan.statPrefix, plan.name);
    this.#subscription = new Subscription(
      {
        ...{ source: plan.source, statPrefix: this.#statPrefix, api: SRDS },
        names: plan.collection === undefined ? [] : [plan.collection],
        isCollection: plan.collection !== undefined,
        target: `SRDS ${plan.name}`,
        judgesEach: true,
        judge: (...update) => this.#judge(...update),
      },
      host,
    );
  }

  get name(): string {
    return this.#plan.name;
  }

  /** Of the latest update that was taken. */
  get version(): string {
    return this.#version;
  }

  /** An update was taken. */
  get hasCome(): boolean {
    return this.#hasCome;
  }

  /** As the real server: by their names. */
  get current(): readonly DynamicScope[] {
    const all = [...this.#scopes].sort(([a], [b]) => (a < b ? -1 : 1));
    return all.map(([, scope]) => scope);
  }

  start(onFirst: () => void): void {
    this.#onFirst = onFirst;
    this.#subscription.start(onFirst);
  }

  /** A request wants the table of that slot, which may be none of these. */
  ask(slot: string): void {
    const begin = this.#lazy.get(slot);
    if (!begin) return;
    this.#lazy.delete(slot);
    begin();
    this.#countActive();
  }

  stop(): void {
    this.#subscription.stop();
  }

  /** Nobody asks for it any more. */
  end(): void {
    this.stop();
    this.#onFirst();
    const removed_route_tables = [...this.#scopes.values()].flatMap(release);
    this.#native.apply(encodeUpdate({ removed_route_tables }));
    this.#native.removeStats(this.#statPrefix);
  }

  /** As the real server: names and keys that are there twice refuse all of it. */
  #judge(
    resources: readonly Resource[],
    version: string,
    describe: (issue: Issue) => string,
    removed: readonly string[] | undefined,
  ): Commit {
    const names = new Set(resources.map(({ message }) => (message as ScopeMessage).name ?? ''));
    const isGone = new Set(removed);
    const others = [...this.#scopes].filter(
      ([name]) => removed && !isGone.has(name) && !names.has(name),
    );
    const fresh = resources.map(({ message }) => message as ScopeMessage);
    const root = Place.root([]);
    refuseSameScopes(
      [...others.map(([, { message }]) => message), ...fresh],
      (index) => resources[index - others.length]?.place ?? root,
    );
    const kept = new Map([...others, ...[...this.#scopes].filter(([name]) => names.has(name))]);
    return () => this.#take(resources, version, describe, kept);
  }

  /** As the real server: what is gone goes in any case; of others those before the first that is wrong are taken. */
  #take(
    resources: readonly Resource[],
    version: string,
    describe: (issue: Issue) => string,
    kept: ReadonlyMap<string, Scope>,
  ): string | undefined {
    const after = new Map(kept);
    const fresh: Scope[] = [];
    let wrong: string | undefined;
    for (const [index, resource] of resources.entries()) {
      const scope = resource.message as ScopeMessage;
      const { name = '' } = scope;
      const known = kept.get(name);
      if (known && JSON.stringify(known.message) === JSON.stringify(scope)) continue;
      const issues: Issue[] = [...resource.faults];
      const place = Place.root(issues).field('resources').index(index);
      this.#host.stats.countDeprecated(resource.madeUses);
      const made =
        issues.length > 0 ? undefined : this.#make(scope, place, resource.version || version);
      const errors = issues.filter(({ severity }) => severity === 'error');
      if (made && errors.length === 0) {
        fresh.push(made);
        after.set(name, made);
        continue;
      }
      if (made) release(made);
      wrong = errors.map(describe).join('\n');
      break;
    }
    const refused = this.#apply(after, fresh);
    if (refused !== undefined) return refused;
    if (wrong !== undefined) return wrong;
    // As in the real server: one that only takes scopes away is not shown.
    if (fresh.length > 0) this.#version = version;
    this.#hasCome = true;
    this.#countTaken();
    return undefined;
  }

  #make(message: ScopeMessage, place: Place, version: string): Scope {
    refuseOtherFields(place, message, SCOPE);
    const routes = new ChainRoutes(this.#context.routes);
    const secrets = new HeldSecrets(this.#context.live);
    const { name = '', on_demand: onDemand, route_configuration_name: named = '' } = message;
    const { statPrefix, chain, routes: usual } = this.#plan;
    const source = usual && (this.#context.authorities.sourceOf(named) ?? usual);
    let table = '';
    let begin: (() => void) | undefined;
    if (!message.route_configuration && named === '') {
      place
        .field('route_configuration_name')
        .error('You must specify either the route_configuration_name or the route_configuration');
    } else if (message.route_configuration) {
      const at = place.field('route_configuration');
      const options = { validatesClusters: true, chain, statPrefix };
      const clusterNames = this.#events.clusterNames();
      const context = { ...this.#context, clusterNames, holdLive: secrets.hold };
      const compiled = compileRouteTable(message.route_configuration, at, context, options);
      table = routes.add({ ...compiled, name: `${this.#plan.name}/${name}` });
    } else if (source && onDemand) {
      table = this.#context.routes.take(named);
      begin = () => {
        const request = { name: named, source, statPrefix, chain };
        routes.request(request, table);
        this.#events.onRoutes();
      };
    } else if (source) {
      if (source.kind === 'file') {
        const { path, watchedDirectory: folder = path } = source;
        const at = place.field('route_configuration_name');
        [path, folder].every((one) => checkBacking(one, at));
      }
      table = routes.request({ name: named, source, statPrefix, chain });
    } else {
      place.error(`scope '${name}' names a route configuration, and there is no rds_config_source`);
    }
    const plan = {
      key: keyOf(message),
      route_table: table,
      ...(onDemand && !message.route_configuration && { on_demand: true }),
    };
    const updatedMs = Date.now();
    return { version, message, updatedMs, routes, secrets, plan, ...(begin && { begin }) };
  }

  #apply(after: ReadonlyMap<string, Scope>, fresh: readonly Scope[]): string | undefined {
    const before = this.#scopes;
    const kept = new Set(after.values());
    const gone = [...before.values()].filter((scope) => !kept.has(scope));
    const table: RouteTable = {
      name: this.#plan.slot,
      scoped_routes: {
        fragments: this.#plan.fragments,
        scopes: [...after.values()].map(({ plan }) => plan),
      },
    };
    const own = fresh.flatMap(({ routes }) => [...routes.tables]);
    const errors = this.#native.apply(encodeUpdate({ route_tables: [...own, table] }));
    if (errors.length > 0) {
      fresh.forEach(release);
      return errors.map(({ message }) => message).join('\n');
    }
    this.#scopes = after;
    const removed_route_tables = gone.flatMap(release);
    for (const { plan } of gone) this.#lazy.delete(plan.route_table ?? '');
    for (const { plan, begin } of fresh) if (begin) this.#lazy.set(plan.route_table ?? '', begin);
    this.#native.apply(encodeUpdate({ removed_route_tables }));
    this.#events.onRoutes();
    this.#countPlaced();
    return undefined;
  }

  #countPlaced(): void {
    const onDemand = [...this.#scopes.values()].filter(({ message }) => message.on_demand).length;
    // As in the real server, nobody has used it before there is one.
    if (onDemand > 0 || this.#hasOnDemand) {
      this.#host.stats.setGauge(`${this.#statPrefix}on_demand_scopes`, onDemand);
      this.#hasOnDemand = true;
    }
    this.#countActive();
  }

  #countTaken(): void {
    const { stats } = this.#host;
    stats.setGauge(`${this.#statPrefix}all_scopes`, this.#scopes.size);
    stats.count(`${this.#statPrefix}config_reload`);
    stats.setGauge(`${this.#statPrefix}config_reload_time_ms`, Date.now());
  }

  /** As the real server: of those whose routes come by RDS, such as are asked for. */
  #countActive(): void {
    const all = [...this.#scopes.values()];
    const asked = all.filter(({ message }) => !message.route_configuration).length;
    const active = asked - this.#lazy.size;
    if (active > 0 || this.#hasActive) {
      this.#host.stats.setGauge(`${this.#statPrefix}active_scopes`, active);
      this.#hasActive = true;
    }
  }
}
