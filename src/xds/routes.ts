// Route configurations that come by RDS, and those of listeners that VHDS adds virtual hosts to.
import type {
  envoy_config_route_v3_RouteConfiguration as RouteConfiguration,
  envoy_config_route_v3_VirtualHost as VirtualHost,
} from '../../build/messages.gen.js';
import { formatIssue, type Issue } from '../config/issues/issue.js';
import type { NativeProxy } from '../native.js';
import type { CompileContext } from '../plan/extension.js';
import { HeldSecrets } from '../plan/live-sources.js';
import { Place } from '../plan/message/place.js';
import { Demand_Kind, encodeUpdate, type RouteTable } from '../plan/plan.gen.js';
import { compileRouteTable } from '../plan/route/route-table.js';
import { compileVhds } from '../plan/route/vhds.js';
import type { RdsPlan, RdsTable } from '../plan/route-slots.js';
import { RDS } from './api.js';
import { refusedBy } from './refused-by.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';
import { VirtualHostSubscription, withHosts, type VhdsPlan } from './virtual-hosts.js';

export interface DynamicRoutes {
  readonly version: string;
  readonly message: RouteConfiguration;
  /** Milliseconds since 1970. */
  readonly updatedMs: number;
}

interface MadeTable {
  readonly table: RouteTable;
  readonly secrets: HeldSecrets;
}

export class RouteSubscription {
  readonly #plan: RdsPlan;
  readonly #native: NativeProxy;
  readonly #context: CompileContext;
  readonly #host: Subscribing;
  /** Of RDS. */
  readonly #statPrefix: string;
  /** Undefined: the route configuration is written into a listener. */
  readonly #subscription: Subscription | undefined;
  #current: DynamicRoutes | undefined;
  /** With its virtual hosts, where those come by VHDS: as the real server, nothing before them. */
  #shown: DynamicRoutes | undefined;
  #onFirst: () => void = () => undefined;
  #onArrived: () => void = () => undefined;
  #isArrived = false;
  /** Resolves when routes have come, or are not waited for any longer. */
  readonly arrived = new Promise<void>((resolve) => {
    this.#onArrived = resolve;
  });
  /** How much of it is waited for: itself, and its virtual hosts. */
  #held = 0;
  /** Absent: the route configuration has no virtual hosts but its own. */
  #hosts: VirtualHostSubscription | undefined;
  /** Slots whose tables are made of it, with what their formats and filters have. */
  readonly #filled = new Map<string, HeldSecrets>();
  /** Made of an update that has not been taken. */
  #judged: readonly MadeTable[] = [];

  constructor(plan: RdsPlan, native: NativeProxy, context: CompileContext, host: Subscribing) {
    this.#plan = plan;
    this.#native = native;
    this.#context = context;
    this.#host = host;
    this.#statPrefix = plan.source ? native.addRdsStats(plan.statPrefix, plan.name) : '';
    this.#subscription =
      plan.source &&
      new Subscription(
        {
          source: plan.source,
          statPrefix: this.#statPrefix,
          api: RDS,
          names: [plan.name],
          target: `RdsRouteConfigSubscription RDS init ${plan.name}`,
          judge: (resources, version) => this.#judge(resources, version),
          onRejected: () => this.#drop(),
        },
        host,
      );
  }

  /** As it is in use; undefined before the first. */
  get current(): DynamicRoutes | undefined {
    return this.#shown;
  }

  /** As a listener has it; undefined: it comes by RDS. */
  get written(): RouteConfiguration | undefined {
    return this.#plan.written;
  }

  /** `onFirst`: routes have come, or are not waited for any longer. */
  start(onFirst: () => void): void {
    this.#onFirst = onFirst;
    const leave = this.#hold();
    if (this.#subscription) {
      this.#subscription.start(leave);
      return;
    }
    this.#useWritten();
    leave();
  }

  /** What comes back is called when something has come; with the last of them all has. */
  #hold(): () => void {
    this.#held++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.#held > 0) return;
      this.#isArrived = true;
      this.#onArrived();
      this.#onFirst();
    };
  }

  stop(): void {
    this.#drop();
    this.#hosts?.stop();
    this.#subscription?.stop();
  }

  /** A request wants a virtual host; false: nobody can be asked. */
  ask(name: string): boolean {
    return this.#hosts?.ask(name) ?? false;
  }

  get name(): string {
    return this.#plan.name;
  }

  get isArrived(): boolean {
    return this.#isArrived;
  }

  /** Whether it is what the table of that slot is made of. */
  fills(slot: string): boolean {
    return this.#plan.tables.some((table) => table.slot === slot);
  }

  /** Nobody asks for it any more: its statistics end with it. */
  end(): void {
    this.stop();
    this.#hosts?.end();
    for (const secrets of this.#filled.values()) secrets.release();
    this.#filled.clear();
    this.#isArrived = true;
    this.#onArrived();
    this.#onFirst();
    if (this.#statPrefix !== '') this.#native.removeStats(this.#statPrefix);
  }

  /** Another listener asks for these routes, in another way: what has come is in use there too. */
  fillNewTables(): void {
    const slots = new Set(this.#plan.tables.map(({ slot }) => slot));
    for (const [slot, secrets] of this.#filled) {
      if (slots.has(slot)) continue;
      secrets.release();
      this.#filled.delete(slot);
    }
    const current = this.#current?.message;
    if (!current) return;
    const message = withHosts(current, this.#hosts?.hosts ?? []);
    const issues: Issue[] = [];
    const fresh = this.#plan.tables.filter(({ slot }) => !this.#filled.has(slot));
    const tables = this.#compile(fresh, message, Place.root(issues));
    const errors = issues.filter(({ severity }) => severity === 'error').map(formatIssue);
    if (errors.length > 0) release(tables);
    else if (tables.length > 0) errors.push(...this.#fill(tables));
    for (const error of errors) this.#host.log('warning', `routes '${this.#plan.name}': ${error}`);
  }

  #compile(
    tables: readonly RdsTable[],
    message: RouteConfiguration,
    place: Place,
  ): readonly MadeTable[] {
    return tables.map(({ slot, chain }) => {
      const secrets = new HeldSecrets(this.#context.live);
      const context = { ...this.#context, holdLive: secrets.hold };
      const compiled = compileRouteTable(message, place, context, {
        validatesClusters: this.#plan.written !== undefined,
        chain,
        statPrefix: this.#plan.statPrefix,
        followsHosts: true,
      });
      const asked = message.vhds && { asks_for_hosts_as: this.#plan.name };
      return { table: { ...compiled, name: slot, ...asked }, secrets };
    });
  }

  /** What was judged is not used. */
  #drop(): void {
    release(this.#judged);
    this.#judged = [];
  }

  /** What is wrong. Tables of which nothing is wrong are in use in any case. */
  #fill(made: readonly MadeTable[]): readonly string[] {
    const route_tables = made.map(({ table }) => table);
    const errors = this.#native.apply(encodeUpdate({ route_tables }));
    const isRefused = refusedBy(errors, 'route_table');
    for (const { table, secrets } of made) {
      const slot = table.name ?? '';
      if (isRefused(slot)) {
        secrets.release();
        continue;
      }
      this.#filled.get(slot)?.release();
      this.#filled.set(slot, secrets);
    }
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
    const vhds = this.#vhdsOf(message);
    const known = vhds && this.#hosts?.isFor(vhds) ? this.#hosts : undefined;
    const whole = withHosts(message, known?.hosts ?? []);
    this.#drop();
    const tables = (this.#judged = this.#compile(this.#plan.tables, whole, first.place));
    return () => {
      if (JSON.stringify(message) === JSON.stringify(this.#current?.message)) {
        this.#drop();
        return undefined;
      }
      this.#judged = [];
      const errors = this.#fill(tables);
      if (errors.length > 0) return errors.join('\n');
      const current = { version: first.version || version, message, updatedMs: Date.now() };
      // Virtual hosts that are known are put in place beside it at once.
      this.#current = current;
      if (!known) this.#follow(vhds);
      if (!vhds || known) this.#show(current.version, whole);
      return undefined;
    };
  }

  /** It was checked as its listener came. */
  #useWritten(): void {
    const { written: message } = this.#plan;
    if (!message) return;
    this.#current = this.#shown = { version: '', message, updatedMs: Date.now() };
    this.#fill(this.#compile(this.#plan.tables, message, Place.root([])));
    this.#follow(this.#vhdsOf(message));
  }

  /** Undefined: it has no virtual hosts but its own. */
  #vhdsOf(message: RouteConfiguration): VhdsPlan | undefined {
    const { name, written } = this.#plan;
    const source = compileVhds(message, Place.root([]), this.#context);
    // Statistics of what is a listener's own are nobody's in particular.
    return source && { name, statPrefix: written ? '' : this.#plan.statPrefix, source };
  }

  #show(version: string, message: RouteConfiguration): void {
    const updatedMs = Date.now();
    this.#shown = { version, message, updatedMs };
    if (this.#statPrefix === '') return;
    this.#host.stats.count(`${this.#statPrefix}config_reload`);
    this.#host.stats.setGauge(`${this.#statPrefix}config_reload_time_ms`, updatedMs);
  }

  #follow(plan: VhdsPlan | undefined): void {
    this.#hosts?.end();
    this.#hosts =
      plan &&
      new VirtualHostSubscription(plan, this.#native, this.#host, {
        use: (hosts, resources, version) => this.#useHosts(hosts, resources, version),
        onAnswered: (names) => {
          const kind = Demand_Kind.VIRTUAL_HOST;
          const met_demands = names.map((name) => ({ kind, name }));
          this.#native.apply(encodeUpdate({ met_demands }));
        },
      });
    if (!this.#hosts) return;
    const before = this.#shown;
    const release = this.#hold();
    this.#hosts.start(() => {
      // None have come in time.
      if (this.#current && this.#shown === before)
        this.#show(this.#current.version, this.#current.message);
      release();
    });
  }

  #useHosts(
    hosts: readonly VirtualHost[],
    resources: readonly Resource[],
    version: string,
  ): string | Commit {
    const message = this.#current?.message;
    const [first] = resources;
    if (!message) return () => undefined;
    const issues: Issue[] = [];
    const place = first?.place ?? Place.root(issues);
    const whole = withHosts(message, hosts);
    this.#drop();
    const tables = (this.#judged = this.#compile(this.#plan.tables, whole, place));
    return () => {
      this.#judged = [];
      const errors = this.#fill(tables);
      if (errors.length > 0) return errors.join('\n');
      this.#show(version, whole);
      return undefined;
    };
  }
}

function release(tables: readonly MadeTable[]): void {
  for (const { secrets } of tables) secrets.release();
}
