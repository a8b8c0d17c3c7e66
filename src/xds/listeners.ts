// Listeners that come by LDS: all of them with each update, or what has changed of them. One that is wrong is
// refused, and the others are taken all the same.
import type { envoy_config_listener_v3_Listener as Listener } from '../../build/messages.gen.js';
import { countDeprecatedValues } from '../config/issues/deprecated-fields.js';
import type { Issue } from '../config/issues/issue.js';
import { messageKey } from '../config/values/same-message.js';
import type { DrainOptions } from '../lifecycle/drain.js';
import type { ApplyError, NativeProxy } from '../native.js';
import type { LaterContext } from '../plan/compiled.js';
import {
  compileDynamicListener,
  differInChainsAlone,
  releaseNew,
  type DynamicChain,
  type LdsPlan,
} from '../plan/listener/lds-plan.js';
import type { DiscoveredPlace } from '../plan/discovered.js';
import { releaseSecrets } from '../plan/live-sources.js';
import { Place } from '../plan/message/place.js';
import { encodeUpdate, type Listener as ListenerPlan, type Update } from '../plan/plan.gen.js';
import { Departures, type DynamicListener } from './departures.js';
import {
  Round,
  describeDrop,
  isAbout,
  isDrop,
  release,
  type Change,
  type KnownListener,
  type Refusal,
} from './listener-round.js';
import { LDS } from './api.js';
import {
  isThereTwice,
  refusalOf,
  refusalOfFaults,
  refuseOtherReuse,
  refuseSockets,
  type RefusedListener,
} from './listener-refusals.js';
import { Subscription, type Subscribing } from './subscription.js';
import { WaitingListeners } from './waiting-listeners.js';
import type { Commit, Resource } from './updates.js';

export interface ListenerHost extends Subscribing {
  /** How clients of what is replaced or removed are asked to leave. */
  readonly drain: DrainOptions;
  /** False: listeners of that direction are stopped, or a successor has them. */
  readonly mayListen: (direction: Listener['traffic_direction']) => boolean;
  /** False: the server waits for its first resources still. */
  readonly isStarted: () => boolean;
  /** Of all clusters that there are. */
  readonly clusterNames: () => ReadonlySet<string>;
  /** Other route configurations may be wanted, or none: called before a listener is put in place. */
  readonly onRoutes: () => void;
  /** Resolves when something that it needs has come; undefined: all has. */
  readonly needsOf: (change: Change) => Promise<unknown> | undefined;
  /** Other filter chains are asked for or in use: called when they are, and when they have gone. */
  readonly onSockets: () => void;
}

/** What has become of one listener of an update; neither: it is as it was. */
interface Outcome {
  readonly message: Listener;
  readonly refusal?: Refusal;
  readonly change?: Change;
  /** False: another one has its name. */
  readonly isNamed?: boolean;
}

export class ListenerSubscription {
  readonly #native: NativeProxy;
  readonly #context: LaterContext;
  readonly #host: ListenerHost;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  readonly #departures: Departures;
  /** Those that are there. */
  #static: readonly ListenerPlan[];
  /** By name, in the order in which names came. */
  readonly #current = new Map<string, KnownListener>();
  #refused: readonly RefusedListener[] = [];
  #version = '';
  #lastId = 0;
  readonly #waiting: WaitingListeners;

  constructor(plan: LdsPlan, native: NativeProxy, context: LaterContext, host: ListenerHost) {
    this.#native = native;
    this.#context = context;
    this.#static = plan.staticListeners;
    this.#host = host;
    this.#departures = new Departures(native, host.drain.seconds, () => {
      host.onRoutes();
      host.onSockets();
    });
    this.#waiting = new WaitingListeners(native, host, (name, change) => this.#place(name, change));
    this.#statPrefix = native.addLdsStats();
    this.#subscription = new Subscription(
      {
        source: plan.source,
        statPrefix: this.#statPrefix,
        api: LDS,
        names: plan.collection === undefined ? [] : [plan.collection],
        isCollection: plan.collection !== undefined,
        target: 'LDS',
        judgesEach: true,
        judge:
          (...update) =>
          () =>
            this.#take(...update),
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

  /** They wait for what they need. */
  get warming(): readonly DynamicListener[] {
    return this.#waiting.listeners;
  }

  /** Of those that are in place. */
  get placedChains(): readonly DynamicChain[] {
    return [...this.#current.values()].flatMap(({ chains }) => [...chains.values()]);
  }

  /** They take no connections any more, and have some still: the latest first. */
  get draining(): readonly DynamicListener[] {
    return this.#departures.listeners;
  }

  /** Those of listeners, and those that drain apart. */
  get chains(): readonly DynamicChain[] {
    const all = [...this.#current.values(), ...this.warming];
    const own = all.flatMap(({ chains }) => [...chains.values()]);
    return [...new Set(own), ...this.#departures.chains];
  }

  /** Filters that come later, of what the data plane has, and of what is not in place yet. */
  get discovered(): {
    readonly placed: readonly DiscoveredPlace[];
    readonly warming: readonly DiscoveredPlace[];
  } {
    const of = (listeners: readonly DynamicListener[]): DiscoveredPlace[] =>
      listeners.flatMap(({ discovered, chains }) => [
        ...discovered,
        ...[...chains.values()].flatMap((chain) => chain.discovered),
      ]);
    const leaving = this.#departures.chains.flatMap((chain) => chain.discovered);
    return {
      placed: [...of([...this.#current.values(), ...this.draining]), ...leaving],
      warming: of(this.warming),
    };
  }

  /** By the latest update. */
  get refused(): readonly RefusedListener[] {
    return this.#refused;
  }

  start(): void {
    this.#subscription.start();
  }

  /** It has gone from the data plane. False: it was a static one. */
  drop(name: string): boolean {
    const known = this.#current.get(name);
    if (!known) {
      this.#static = this.#static.filter((one) => one.name !== name);
      return false;
    }
    this.#current.delete(name);
    this.#waiting.forgetBefore(known);
    releaseNew(known.chains, new Map());
    releaseSecrets(known.secrets);
    this.#host.onRoutes();
    this.#host.onSockets();
    return true;
  }

  stop(): void {
    this.#waiting.stop();
    this.#subscription.stop();
    this.#departures.stop();
  }

  /** What could not be put in place for a while may be now. */
  refresh(): void {
    this.#subscription.refresh();
  }

  /** All of an update at once; only where a listener wants the address of one that moves, in two. */
  #take(
    resources: readonly Resource[],
    version: string,
    describe: (issue: Issue) => string,
    gone: readonly string[] | undefined,
  ): ReturnType<Commit> {
    const unnamed = this.#unnamed();
    const named = new Set(
      resources.map(({ message }) => (message as Listener).name || (unnamed.get(message) ?? '')),
    );
    const others = gone ? this.#others(named, gone) : [];
    const wanted = new Set([...named, ...others]);
    const removed = [...this.#current.keys()].filter((known) => !wanted.has(known));
    const round = new Round(removed, this.#current);
    // What waits goes on waiting.
    for (const change of others.flatMap((name) => this.#waiting.find(name) ?? []))
      round.add(change);
    const outcomes: Outcome[] = [];
    const seen = new Set<string>();
    resources.forEach(({ message, version: own, faults, madeUses }, index) => {
      const listener = message as Listener;
      const name = listener.name ?? '';
      if (seen.has(name)) {
        outcomes.push({ message: listener, refusal: isThereTwice(name), isNamed: false });
        return;
      }
      seen.add(name);
      if (unnamed.has(message)) {
        const held = this.#waiting.find(unnamed.get(message) ?? '');
        if (held) round.add(held);
        outcomes.push({ message: listener });
        return;
      }
      if (faults.length > 0) {
        outcomes.push({ message: listener, refusal: refusalOfFaults(faults, describe) });
        return;
      }
      const outcome = this.#judge(listener, own || version, index, describe, round);
      outcomes.push(outcome);
      if (outcome.change || outcome.refusal) this.#host.stats.countDeprecated(madeUses);
    });
    this.#begin(round, wanted);
    return this.#conclude(removed, outcomes, version);
  }

  /** That are there or wait, and of which an update that tells of changes says nothing. */
  #others(named: ReadonlySet<string>, gone: readonly string[]): readonly string[] {
    const isGone = new Set(gone);
    const all = new Set([...this.#current.keys(), ...this.#waiting.names]);
    return [...all].filter((name) => !named.has(name) && !isGone.has(name));
  }

  /**
   * By their messages: as they are called here. What a heartbeat has kept is the same object; otherwise each
   * update has listeners of its own, as in the real server.
   */
  #unnamed(): ReadonlyMap<object, string> {
    const all = [...this.#current.values(), ...this.warming];
    return new Map(all.flatMap(({ message, name }) => (message.name ? [] : [[message, name]])));
  }

  /** Puts in place what has all that it needs; the others wait, each for itself. */
  #begin(round: Round, wanted: ReadonlySet<string>): void {
    round.leaveOut(this.#waiting.begin(round.changes, wanted));
    this.#apply(round);
    this.#showWarming();
  }

  /** It has waited. */
  #place(name: string, change: Change): void {
    const round = new Round([], this.#current);
    round.add(change);
    this.#apply(round);
    this.#showWarming();
    if (!change.refusal) return;
    const { details } = change.refusal;
    const refused = { message: change.message, details, attemptMs: Date.now(), isKept: true };
    this.#refused = [...this.#refused, refused];
    this.#host.log('warning', `lds: listener '${name}' config rejected: ${details}`);
  }

  /** Before the start is over none counts as one that waits, as in the real server. */
  #showWarming(): void {
    const { stats, isStarted } = this.#host;
    if (isStarted()) stats.setGauge('listener_manager.total_listeners_warming', this.#waiting.size);
  }

  /** What is told of an update whose parts have been put in place, or have not. */
  #conclude(
    removed: readonly string[],
    outcomes: readonly Outcome[],
    version: string,
  ): ReturnType<Commit> {
    const { log } = this.#host;
    for (const name of removed) log('info', `lds: remove listener '${name}'`);
    const refused: RefusedListener[] = [];
    const lines: string[] = [];
    for (const { message, isNamed = true, change, ...outcome } of outcomes) {
      const name = message.name ?? '';
      const refusal = outcome.refusal ?? change?.refusal;
      if (!refusal) {
        if (change) log('info', `lds: add/update listener '${name}'`);
        else log('debug', `lds: add/update listener '${name}' skipped`);
        continue;
      }
      const { details } = refusal;
      const isKept = isNamed && message.address !== undefined;
      refused.push({ message, details, attemptMs: Date.now(), isKept });
      for (const line of refusal.lines) lines.push(`${name}: ${line}`);
      log('warning', `lds: listener '${name}' config rejected: ${details}`);
    }
    this.#refused = refused;
    const isChanged = outcomes.some(({ change }) => change && !change.refusal);
    if (isChanged || removed.length > 0) this.#version = version;
    if (refused.length === 0) return undefined;
    return `Error adding/updating listener(s) ${lines.join('\n')}`;
  }

  /** What is to be done about a listener, which joins the round; nothing, where it is as it was. */
  #judge(
    message: Listener,
    version: string,
    index: number,
    describe: (issue: Issue) => string,
    round: Round,
  ): Outcome {
    const { name = '' } = message;
    const before = this.#current.get(name);
    const isStatic = this.#static.some((one) => one.name === name);
    if (isStatic || !this.#host.mayListen(message.traffic_direction)) return { message };
    if (message.api_listener) {
      // As the real server: it is for clients within the process, of which there are none.
      this.#host.log('warning', `lds: listener '${name}' is an api_listener, which nobody asks`);
      return { message };
    }
    if (before && messageKey(before.message) === messageKey(message)) return { message };
    const held = this.#waiting.find(name);
    if (held?.before === before && held && messageKey(held.message) === messageKey(message)) {
      round.add(held);
      return { message };
    }
    const issues: Issue[] = [];
    const place = Place.root(issues).field('resources').index(index);
    const isInPlace = before !== undefined && differInChainsAlone(before.message, message);
    const known = isInPlace ? before.chains : new Map<string, DynamicChain>();
    const context = { ...this.#context, clusterNames: this.#host.clusterNames() };
    const made = compileDynamicListener(message, place, context, known);
    const { listener, chains } = made;
    if (listener && round.isAddressLeft(listener)) {
      this.#apply(round);
      round.begin([], this.#current);
    }
    if (before) refuseOtherReuse(before.message, message, place);
    if (listener) {
      refuseSockets(listener, before?.plan, [...this.#static, ...round.plans], place);
    }
    const errors = issues.filter(({ severity }) => severity === 'error');
    this.#host.stats.countDeprecated(countDeprecatedValues(issues));
    for (const issue of issues) {
      if (issue.severity === 'warning') this.#host.log('warning', describe(issue));
    }
    if (errors.length > 0 || !listener) {
      releaseNew(chains, known);
      releaseSecrets(made.secrets);
      return { message, refusal: refusalOf(errors, describe) };
    }
    const id = before && isInPlace ? before.id : ++this.#lastId;
    const discovered = before && isInPlace ? before.discovered : made.discovered;
    const secrets = before && isInPlace ? before.secrets : made.secrets;
    if (isInPlace) releaseSecrets(made.secrets);
    const change: Change = {
      ...{ id, version, message, plan: listener, chains, known, before, isInPlace },
      ...{ discovered, secrets },
    };
    round.add(change);
    return { message, change };
  }

  #apply(round: Round): void {
    const { removed, changes } = round;
    if (removed.length === 0 && changes.length === 0) return;
    this.#host.onRoutes();
    const errors = this.#native.apply(encodeUpdate({ ...round.update, drain: this.#drainPlan }));
    for (const name of removed) {
      const known = this.#current.get(name);
      this.#current.delete(name);
      if (known) this.#departures.addListener(known);
    }
    for (const change of changes) {
      const wrong = errors.filter((error) => isAbout(error, change));
      const drop = errors.find((error) => isDrop(error, change));
      if (drop) this.#forget(change, drop);
      else if (wrong.length > 0) this.#undo(change, wrong);
      else this.#settle(change);
    }
    if (errors.length > 0) this.#host.onRoutes();
    this.#host.onSockets();
  }

  /** What the data plane has refused is as it was before. */
  #undo(change: Change, errors: readonly ApplyError[]): void {
    release(change);
    this.#native.takeAnnouncementBack(change.plan.name ?? '', false);
    const details = errors.map((error) => error.message).join('; ');
    change.refusal = { details, lines: [details] };
  }

  /** It could not listen: as in the real server that is no refusal, and nothing has its place. */
  #forget(change: Change, drop: ApplyError): void {
    const { plan, before } = change;
    this.#host.log('error', describeDrop(drop));
    release(change);
    this.#current.delete(plan.name ?? '');
    if (before) this.#departures.addListener(before);
  }

  #settle(change: Change): void {
    const { id, version, message, plan, chains, before, isInPlace, discovered, secrets } = change;
    const name = plan.name ?? '';
    this.#current.set(name, {
      // As the real server: what changes in place goes on under the version that it came with.
      version: before && isInPlace ? before.version : version,
      ...{ id, name, message, chains, plan, discovered, secrets, updatedMs: Date.now() },
    });
    if (!before) return;
    if (!isInPlace) {
      this.#departures.addListener(before);
      return;
    }
    const gone = [...before.chains].filter(([key]) => !chains.has(key));
    this.#departures.addChains(gone.map(([, chain]) => chain));
  }

  get #drainPlan(): Update['drain'] {
    const { seconds, strategy } = this.#host.drain;
    return { seconds, immediate: strategy === 'immediate' };
  }
}
