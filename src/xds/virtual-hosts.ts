// Virtual hosts of one route configuration that come by VHDS: by and by, and when a request asks for one.
import type {
  envoy_config_route_v3_RouteConfiguration as RouteConfiguration,
  envoy_config_route_v3_VirtualHost as VirtualHost,
} from '../../build/messages.gen.js';
import type { NativeProxy } from '../native.js';
import type { Source } from '../plan/sources.js';
import { VHDS } from './api.js';
import { merged } from './merged.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';

export interface VhdsPlan {
  /** Of the route configuration: names of its virtual hosts begin with it. */
  readonly name: string;
  readonly statPrefix: string;
  readonly source: Source;
}

export interface VhdsEvents {
  /** Puts them in place beside the route configuration's own; what is wrong. */
  use(
    hosts: readonly VirtualHost[],
    resources: readonly Resource[],
    version: string,
  ): string | Commit;
  /** Requests wait for these no more. */
  onAnswered(names: readonly string[]): void;
}

export class VirtualHostSubscription {
  readonly #plan: VhdsPlan;
  readonly #native: NativeProxy;
  readonly #host: Subscribing;
  readonly #events: VhdsEvents;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  /** By the names of their resources. */
  #hosts: ReadonlyMap<string, VirtualHost> = new Map();
  /** Asked for, and answered: what comes of them later comes unasked. What came unasked is none of them. */
  readonly #answered = new Set<string>();
  /** Asked for, and not answered yet. */
  readonly #waiting = new Set<string>();
  /** Those of them of which an answer is to come: one that is refused answers nobody. */
  readonly #pending = new Set<string>();

  constructor(plan: VhdsPlan, native: NativeProxy, host: Subscribing, events: VhdsEvents) {
    this.#plan = plan;
    this.#native = native;
    this.#host = host;
    this.#events = events;
    this.#statPrefix = native.addVhdsStats(plan.statPrefix, plan.name);
    this.#subscription = new Subscription(
      {
        ...{ source: plan.source, statPrefix: this.#statPrefix, api: VHDS, names: [] },
        target: `VHDS ${plan.name}`,
        prefix: `${plan.name}/`,
        judge: (resources, version, _, removed) => this.#judge(resources, version, removed),
        onRejected: () => this.#pending.clear(),
        onAnswered: (names) => {
          for (const name of names) {
            this.#pending.delete(name);
            if (this.#waiting.delete(name)) this.#answered.add(name);
          }
          events.onAnswered(names);
        },
      },
      host,
    );
  }

  get hosts(): readonly VirtualHost[] {
    return [...this.#hosts.values()];
  }

  isFor({ name, source }: VhdsPlan): boolean {
    return name === this.#plan.name && JSON.stringify(source) === JSON.stringify(this.#plan.source);
  }

  start(onFirst: () => void): void {
    this.#subscription.start(onFirst);
  }

  /** `name`: "<route configuration>/<domain>"; false: it cannot be asked for, or all of it is known. */
  ask(name: string): boolean {
    if (this.#hosts.has(name) || this.#answered.has(name)) return false;
    const isPending = this.#pending.has(name);
    this.#waiting.add(name);
    this.#pending.add(name);
    return this.#subscription.ask(name, isPending);
  }

  stop(): void {
    this.#subscription.stop();
  }

  /** Nobody is asked any more: whoever waits goes by what there is. */
  end(): void {
    this.stop();
    if (this.#waiting.size > 0) this.#events.onAnswered([...this.#waiting]);
    this.#native.removeStats(this.#statPrefix);
  }

  #judge(
    resources: readonly Resource[],
    version: string,
    removed: readonly string[] | undefined,
  ): string | Commit {
    const prefix = `${this.#plan.name}/`;
    const own = resources.filter(({ name }) => name.startsWith(prefix));
    const gone = (removed ?? []).filter((name) => name.startsWith(prefix));
    // As the real server: that what is not there is gone says nothing.
    const isNothing = own.length === 0 && gone.length > 0;
    if (isNothing && !gone.some((name) => this.#hosts.has(name))) return () => undefined;
    const after = merged(this.#hosts, own, removed);
    const commit = this.#events.use([...after.values()], own, version);
    if (typeof commit === 'string') return commit;
    return () => {
      const wrong = commit();
      if (wrong !== undefined) return wrong;
      this.#hosts = after;
      this.#host.stats.count(`${this.#statPrefix}config_reload`);
      return undefined;
    };
  }
}

/** The route configuration with these virtual hosts behind its own. */
export function withHosts(
  message: RouteConfiguration,
  hosts: readonly VirtualHost[],
): RouteConfiguration {
  if (hosts.length === 0) return message;
  return { ...message, virtual_hosts: [...(message.virtual_hosts ?? []), ...hosts] };
}
