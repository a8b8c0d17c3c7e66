// Route configurations that come by RDS.
import type { envoy_config_route_v3_RouteConfiguration as RouteConfiguration } from '../../build/messages.gen.js';
import type { NativeProxy } from '../native.js';
import type { CompileContext } from '../plan/extension.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import { compileRouteTable } from '../plan/route/route-table.js';
import type { RdsPlan } from '../plan/route-slots.js';
import { Subscription, type Commit, type Resource, type SubscriptionHost } from './subscription.js';

const TYPE = 'envoy.config.route.v3.RouteConfiguration';

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
  readonly #host: SubscriptionHost;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  #current: DynamicRoutes | undefined;

  constructor(plan: RdsPlan, native: NativeProxy, context: CompileContext, host: SubscriptionHost) {
    this.#plan = plan;
    this.#native = native;
    this.#context = context;
    this.#host = host;
    this.#statPrefix = native.addRdsStats(plan.statPrefix, plan.name);
    this.#subscription = new Subscription(
      {
        source: plan.source,
        statPrefix: this.#statPrefix,
        type: TYPE,
        judge: (resources, version) => this.#judge(resources, version),
      },
      host,
    );
  }

  /** Undefined before the first. */
  get current(): DynamicRoutes | undefined {
    return this.#current;
  }

  start(): void {
    this.#subscription.start();
  }

  stop(): void {
    this.#subscription.stop();
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
    const tables = this.#plan.tables.map(({ slot, chain }) => ({
      ...compileRouteTable(message, first.place, this.#context, {
        validatesClusters: false,
        chain,
      }),
      name: slot,
    }));
    return () => {
      if (JSON.stringify(message) === JSON.stringify(this.#current?.message)) return undefined;
      const errors = this.#native.apply(encodeUpdate({ route_tables: tables }));
      if (errors.length > 0) return errors.map((error) => error.message).join('\n');
      const updatedMs = Date.now();
      this.#current = { version, message, updatedMs };
      this.#host.stats.count(`${this.#statPrefix}config_reload`);
      this.#host.stats.setGauge(`${this.#statPrefix}config_reload_time_ms`, updatedMs);
      return undefined;
    };
  }
}
