// Listeners that come by LDS: each update names all of them. One that is wrong is refused, and the
// others are taken all the same.
import type { envoy_config_listener_v3_Listener as Listener } from '../../build/messages.gen.js';
import type { Issue } from '../config/issues/issue.js';
import { messageKey } from '../config/values/same-message.js';
import type { DrainOptions } from '../lifecycle/drain.js';
import type { NativeProxy } from '../native.js';
import { addressText } from '../plan/address/address.js';
import type { LaterContext } from '../plan/compile.js';
import {
  compileDynamicListener,
  differInChainsAlone,
  releaseNew,
  type CompiledListener,
  type DynamicChain,
  type LdsPlan,
} from '../plan/listener/lds-plan.js';
import { Place } from '../plan/message/place.js';
import { encodeUpdate, type Listener as ListenerPlan, type Update } from '../plan/plan.gen.js';
import { Departures, type DynamicListener } from './departures.js';
import { Subscription, type Commit, type Resource, type SubscriptionHost } from './subscription.js';

const TYPE = 'envoy.config.listener.v3.Listener';

export interface ListenerHost extends SubscriptionHost {
  /** How clients of what is replaced or removed are asked to leave. */
  readonly drain: DrainOptions;
  /** False: listeners of that direction are stopped, or a successor has them. */
  readonly mayListen: (direction: Listener['traffic_direction']) => boolean;
  /** Of all clusters that there are. */
  readonly clusterNames: () => ReadonlySet<string>;
  /** Other route configurations may be wanted, or none: called before a listener is put in place. */
  readonly onRoutes: () => void;
  /** Other filter chains are in use: called when they are, and when they have gone. */
  readonly onSockets: () => void;
}

/** A listener that could not be put in place. */
export interface RefusedListener {
  readonly message: Listener;
  readonly details: string;
  /** Milliseconds since 1970. */
  readonly attemptMs: number;
  /** Under its name, as the real server: not of one that is there twice, or has no address. */
  readonly isKept: boolean;
}

interface Refusal {
  readonly details: string;
  /** With places. */
  readonly lines: readonly string[];
}

type Known = DynamicListener & { readonly plan: ListenerPlan };

export class ListenerSubscription {
  readonly #plan: LdsPlan;
  readonly #native: NativeProxy;
  readonly #context: LaterContext;
  readonly #host: ListenerHost;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  readonly #departures: Departures;
  /** By name, in the order in which names came. */
  readonly #current = new Map<string, Known>();
  #refused: readonly RefusedListener[] = [];
  #version = '';
  #lastId = 0;

  constructor(plan: LdsPlan, native: NativeProxy, context: LaterContext, host: ListenerHost) {
    this.#plan = plan;
    this.#native = native;
    this.#context = context;
    this.#host = host;
    this.#departures = new Departures(native, host.drain.seconds, () => {
      host.onRoutes();
      host.onSockets();
    });
    this.#statPrefix = native.addLdsStats();
    this.#subscription = new Subscription(
      {
        source: plan.source,
        statPrefix: this.#statPrefix,
        type: TYPE,
        judge: (resources, version, describe) => () => this.#take(resources, version, describe),
      },
      host,
    );
  }

  /** Of the latest update that changed anything; '' before. */
  get version(): string {
    return this.#version;
  }

  get current(): Iterable<DynamicListener> {
    return this.#current.values();
  }

  /** They take no connections any more, and have some still: the latest first. */
  get draining(): readonly DynamicListener[] {
    return this.#departures.listeners;
  }

  /** Those of listeners, and those that drain apart. */
  get chains(): readonly DynamicChain[] {
    const own = [...this.#current.values()].flatMap(({ chains }) => [...chains.values()]);
    return [...own, ...this.#departures.chains];
  }

  /** By the latest update. */
  get refused(): readonly RefusedListener[] {
    return this.#refused;
  }

  start(): void {
    this.#subscription.start();
  }

  stop(): void {
    this.#subscription.stop();
    this.#departures.stop();
  }

  /** What could not be put in place for a while may be now. */
  refresh(): void {
    this.#subscription.refresh();
  }

  #take(
    resources: readonly Resource[],
    version: string,
    describe: (issue: Issue) => string,
  ): ReturnType<Commit> {
    const { log } = this.#host;
    const wanted = new Set(resources.map(({ message }) => (message as Listener).name ?? ''));
    let isChanged = false;
    // First, so that others may have their addresses.
    for (const name of [...this.#current.keys()].filter((known) => !wanted.has(known))) {
      this.#remove(name);
      log('info', `lds: remove listener '${name}'`);
      isChanged = true;
    }
    const refused: RefusedListener[] = [];
    const lines: string[] = [];
    const seen = new Set<string>();
    resources.forEach(({ message: decoded }, index) => {
      const message = decoded as Listener;
      const name = message.name ?? '';
      const isNamed = !seen.has(name);
      seen.add(name);
      const outcome = isNamed
        ? this.#put(message, version, index, describe)
        : {
            details: `duplicate listener ${name} found`,
            lines: [`duplicate listener ${name} found`],
          };
      if (typeof outcome === 'boolean') {
        isChanged ||= outcome;
        if (outcome) log('info', `lds: add/update listener '${name}'`);
        else log('debug', `lds: add/update listener '${name}' skipped`);
        return;
      }
      const { details } = outcome;
      const isKept = isNamed && message.address !== undefined;
      refused.push({ message, details, attemptMs: Date.now(), isKept });
      for (const line of outcome.lines) lines.push(`${name}: ${line}`);
      log('warning', `lds: listener '${name}' config rejected: ${details}`);
    });
    this.#refused = refused;
    if (isChanged) this.#version = version;
    if (refused.length === 0) return undefined;
    return `Error adding/updating listener(s) ${lines.join('\n')}`;
  }

  /** False: there is nothing to be done. */
  #put(
    message: Listener,
    version: string,
    index: number,
    describe: (issue: Issue) => string,
  ): boolean | Refusal {
    const { name = '' } = message;
    const before = this.#current.get(name);
    const isStatic = this.#plan.staticListeners.some((one) => one.name === name);
    if (isStatic || !this.#host.mayListen(message.traffic_direction)) return false;
    if (before && messageKey(before.message) === messageKey(message)) return false;
    const issues: Issue[] = [];
    const place = Place.root(issues).field('resources').index(index);
    const isInPlace = before !== undefined && differInChainsAlone(before.message, message);
    const known = isInPlace ? before.chains : new Map<string, DynamicChain>();
    const context = { ...this.#context, clusterNames: this.#host.clusterNames() };
    const { listener, chains } = compileDynamicListener(message, place, context, known);
    if (listener) this.#refuseSockets(listener, before?.plan, place);
    const errors = issues.filter(({ severity }) => severity === 'error');
    for (const issue of issues) {
      if (issue.severity === 'warning') this.#host.log('warning', describe(issue));
    }
    if (errors.length > 0 || !listener) {
      releaseNew(chains, known);
      return {
        details: errors.map((error) => error.message).join('; '),
        lines: errors.map(describe),
      };
    }
    const made = { listener, chains };
    const wrong = isInPlace ? this.#changeChains(made, before) : this.#replace(made, before);
    if (wrong !== undefined) {
      releaseNew(chains, known);
      this.#host.onRoutes();
      return { details: wrong, lines: [wrong] };
    }
    const current = {
      id: before && isInPlace ? before.id : this.#lastId,
      // As the real server: what changes in place goes on under the version that it came with.
      version: before && isInPlace ? before.version : version,
      ...{ message, chains, plan: listener, updatedMs: Date.now() },
    };
    this.#current.set(listener.name ?? '', current);
    this.#host.onSockets();
    return true;
  }

  /** What the data plane refuses. */
  #replace({ listener, chains }: CompiledListener, before: Known | undefined): string | undefined {
    const id = ++this.#lastId;
    const wrong = this.#apply(chains, { listeners: [{ ...listener, id }] });
    if (wrong === undefined && before) this.#departures.addListener(before);
    return wrong;
  }

  #changeChains({ listener, chains }: CompiledListener, before: Known): string | undefined {
    const filter_chains = listener.filter_chains ?? [];
    const fresh = new Map([...chains].filter(([key]) => !before.chains.has(key)));
    const wrong = this.#apply(fresh, {
      filter_chains: [{ listener: listener.name, filter_chains }],
    });
    if (wrong !== undefined) return wrong;
    const gone = [...before.chains].filter(([key]) => !chains.has(key));
    this.#departures.addChains(gone.map(([, chain]) => chain));
    return undefined;
  }

  #apply(fresh: ReadonlyMap<string, DynamicChain>, update: Update): string | undefined {
    this.#host.onRoutes();
    const route_tables = [...fresh.values()].flatMap(({ routes }) => [...routes.tables]);
    const errors = this.#native.apply(
      encodeUpdate({ route_tables, ...update, drain: this.#drainPlan }),
    );
    return errors.length > 0 ? errors.map((error) => error.message).join('; ') : undefined;
  }

  #remove(name: string): void {
    const known = this.#current.get(name);
    if (!known) return;
    this.#current.delete(name);
    this.#native.apply(encodeUpdate({ removed_listeners: [name], drain: this.#drainPlan }));
    this.#departures.addListener(known);
  }

  get #drainPlan(): Update['drain'] {
    const { seconds, strategy } = this.#host.drain;
    return { seconds, immediate: strategy === 'immediate' };
  }

  /** What sockets of listeners that there are stand in the way of. */
  #refuseSockets(listener: ListenerPlan, before: ListenerPlan | undefined, place: Place): void {
    const { name = '', address = {} } = listener;
    if (before && before.reuse_port !== listener.reuse_port) {
      place
        .field('enable_reuse_port')
        .error(`Listener ${name}: reuse port cannot be changed during an update`);
    }
    const isOther = (option: 'socket_options'): boolean =>
      messageKey(before?.[option] ?? []) !== messageKey(listener[option] ?? []);
    if (before && !listener.reuse_port && isOther('socket_options')) {
      place
        .field('socket_options')
        .error(
          `Listener ${name}: doesn't support update any socket options when the reuse port isn't enabled`,
        );
    }
    if (address.port === 0) return;
    const text = addressText(address);
    const others = [
      ...this.#plan.staticListeners,
      ...[...this.#current.values()].map(({ plan }) => plan),
    ];
    const owner = others.find(
      (other) => other.name !== name && addressText(other.address ?? {}) === text,
    );
    if (!owner) return;
    place
      .field('address')
      .error(
        `error adding listener: '${name}' has duplicate address '${text}' as existing listener, to ` +
          'check if the listener has duplicated addresses with other listeners or ' +
          `'enable_reuse_port' is set to 'false' for the listener`,
      );
  }
}
