// Filters whose configurations come by ECDS: each name is asked for once from the same source and for the
// same kind of chain, and put in place wherever it stands.
import type {
  Any,
  envoy_config_core_v3_TypedExtensionConfig as ExtensionConfig,
} from '../../build/messages.gen.js';
import { formatIssue, type Issue } from '../config/issues/issue.js';
import { messageKey } from '../config/values/same-message.js';
import type { NativeProxy } from '../native.js';
import type { DiscoveredKind, DiscoveredPlace, Filling } from '../plan/discovered.js';
import { Place } from '../plan/message/place.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import type { Source } from '../plan/sources.js';
import { ECDS } from './api.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';

export interface DynamicExtension {
  readonly kind: DiscoveredKind;
  readonly version: string;
  readonly message: ExtensionConfig;
  /** Milliseconds since 1970. */
  readonly updatedMs: number;
}

type Wanted = Pick<DiscoveredPlace, 'kind' | 'name' | 'source'>;

const keyOf = ({ kind, name, source }: Wanted): string => JSON.stringify([kind, name, source]);

export class Extensions {
  readonly #native: NativeProxy;
  readonly #host: Subscribing;
  /** Whoever waits for what has not come. */
  readonly #hold: () => () => void;
  readonly #subscriptions = new Map<string, ExtensionSubscription>();
  readonly #kinds = new Set<DiscoveredKind>();
  #isStarted = false;

  constructor(native: NativeProxy, host: Subscribing, hold: () => () => void) {
    this.#native = native;
    this.#host = host;
    this.#hold = hold;
  }

  /** Of what was ever asked for. */
  get kinds(): ReadonlySet<DiscoveredKind> {
    return this.#kinds;
  }

  /** What has come; undefined: nothing. */
  latest(kind: DiscoveredKind, name: string, source: Source): Any | undefined {
    return this.#subscriptions.get(keyOf({ kind, name, source }))?.current?.message.typed_config;
  }

  /** Undefined: it has come, or is not waited for. */
  needed(place: DiscoveredPlace): Promise<void> | undefined {
    const one = place.needsNoWarming ? undefined : this.#subscriptions.get(keyOf(place));
    return one && !one.isFirstDone ? one.first : undefined;
  }

  get current(): DynamicExtension[] {
    return [...this.#subscriptions.values()].flatMap(({ current }) => current ?? []);
  }

  /** It is waited for, and has not come. */
  lacks(place: DiscoveredPlace): boolean {
    if (place.needsNoWarming) return false;
    return this.#subscriptions.get(keyOf(place))?.isFirstDone !== true;
  }

  /** Those of a cluster, which waits for them by itself: they are asked for at once. */
  addOfCluster(places: readonly DiscoveredPlace[]): void {
    for (const place of places) {
      this.add(place);
      this.#subscriptions.get(keyOf(place))?.start(() => undefined);
    }
  }

  /** Those of static clusters. */
  startOfClusters(): void {
    const kind = 'upstream_http_filter';
    const all = [...this.#subscriptions.values()].filter((one) => one.kind === kind);
    for (const one of all) one.start(() => undefined);
  }

  /** The data plane has it, or will have it before anything else happens. */
  add(place: DiscoveredPlace): void {
    this.#kinds.add(place.kind);
    const key = keyOf(place);
    const known = this.#subscriptions.get(key);
    if (known) {
      known.add(place);
      return;
    }
    const made = new ExtensionSubscription(place, this.#native, this.#host);
    this.#subscriptions.set(key, made);
    made.add(place);
    if (this.#isStarted) made.start(this.#hold());
  }

  /** Those of listeners that have been put in place get what has come for them already. */
  fill(places: Iterable<DiscoveredPlace>): void {
    for (const place of places) this.#subscriptions.get(keyOf(place))?.fill(place);
  }

  /** Those of filters that came so themselves. */
  change(come: readonly DiscoveredPlace[], gone: readonly DiscoveredPlace[]): void {
    for (const one of come) this.add(one);
    for (const one of gone) this.remove(one);
    this.fill(come);
  }

  remove(place: DiscoveredPlace): void {
    const told = place.onGone();
    if (told.left_route_tables) this.#native.apply(encodeUpdate(told));
    const key = keyOf(place);
    const known = this.#subscriptions.get(key);
    if (!known?.remove(place)) return;
    known.end();
    this.#subscriptions.delete(key);
  }

  start(): void {
    this.#isStarted = true;
    for (const one of this.#subscriptions.values()) one.start(this.#hold());
  }

  stop(): void {
    for (const one of this.#subscriptions.values()) one.stop();
  }
}

class ExtensionSubscription {
  readonly kind: DiscoveredKind;
  readonly #name: string;
  readonly #native: NativeProxy;
  readonly #host: Subscribing;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  readonly #places = new Set<DiscoveredPlace>();
  #current: DynamicExtension | undefined;
  #isBegun = false;
  #onFirst: () => void = () => undefined;
  #resolveFirst: () => void = () => undefined;
  /** Resolves when it has come, or is not waited for any longer. */
  readonly first = new Promise<void>((resolve) => {
    this.#resolveFirst = resolve;
  });
  /** Made of an update that was not taken. */
  #unused: readonly Filling[] = [];

  constructor({ kind, name, source }: Wanted, native: NativeProxy, host: Subscribing) {
    this.kind = kind;
    this.#name = name;
    this.#native = native;
    this.#host = host;
    this.#statPrefix = native.addExtensionStats(kind, name);
    this.#subscription = new Subscription(
      {
        ...{ source, statPrefix: this.#statPrefix, api: ECDS, names: [name] },
        target: `FilterConfigSubscription init ${name}`,
        judge: (resources, version) => this.#judge(resources, version),
        onAbsent: () => this.#forget(),
        onRejected: () => {
          this.#drop();
          host.stats.count(`${this.#statPrefix}config_fail`);
        },
      },
      host,
    );
  }

  /** Undefined before the first. */
  get current(): DynamicExtension | undefined {
    return this.#current;
  }

  get isFirstDone(): boolean {
    return this.#subscription.isFirstDone;
  }

  add(place: DiscoveredPlace): void {
    this.#places.add(place);
  }

  /** Whether it was the last. */
  remove(place: DiscoveredPlace): boolean {
    this.#places.delete(place);
    return this.#places.size === 0;
  }

  /** `onFirst`: it has come, or is not waited for any longer; or it has been asked for before. */
  start(onFirst: () => void): void {
    if (this.#isBegun) {
      onFirst();
      return;
    }
    this.#isBegun = true;
    const isWaitedFor = [...this.#places].some(({ needsNoWarming }) => !needsNoWarming);
    this.#onFirst = onFirst;
    if (!isWaitedFor) onFirst();
    this.#subscription.start(() => {
      if (!this.#current) this.#fallBack();
      onFirst();
      this.#resolveFirst();
    }, isWaitedFor);
  }

  stop(): void {
    this.#subscription.stop();
    this.#drop();
  }

  end(): void {
    this.stop();
    this.#onFirst();
    this.#resolveFirst();
    this.#native.removeStats(this.#statPrefix);
  }

  /** What has come goes to a place that is new. */
  fill(place: DiscoveredPlace): void {
    const config = this.#current?.message.typed_config;
    if (!config) {
      if (this.#subscription.isFirstDone) this.#put([place.fallback ?? place.clear]);
      return;
    }
    const issues: Issue[] = [];
    const filling = place.compile(config, Place.root(issues));
    const errors = issues.filter(({ severity }) => severity === 'error').map(formatIssue);
    if (errors.length === 0 && filling) {
      this.#put([filling]);
      return;
    }
    filling?.onDropped?.();
    for (const error of errors) this.#host.log('warning', `extension '${this.#name}': ${error}`);
    this.#host.stats.count(`${this.#statPrefix}config_conflict`);
    this.#put([place.fallback ?? place.clear]);
  }

  #fallBack(): void {
    this.#put([...this.#places].flatMap(({ fallback }) => fallback ?? []));
  }

  /** The control plane has taken it away. */
  #forget(): void {
    if (!this.#current) return;
    this.#current = undefined;
    this.#put([...this.#places].map(({ fallback, clear }) => fallback ?? clear));
    this.#host.stats.count(`${this.#statPrefix}config_reload`);
  }

  #judge(resources: readonly Resource[], version: string): string | Commit {
    const [first] = resources;
    if (!first || resources.length > 1) {
      return `Unexpected number of resources in ExtensionConfigDS response: ${resources.length}`;
    }
    const message = first.message as ExtensionConfig;
    if (message.name !== this.#name) {
      return `Unexpected resource name in ExtensionConfigDS response: ${message.name ?? ''}`;
    }
    const config = message.typed_config as Any;
    const at = first.place.field('typed_config');
    this.#drop();
    const made = [...this.#places].flatMap((place) => place.compile(config, at) ?? []);
    this.#unused = made;
    return () => {
      if (messageKey(message) === messageKey(this.#current?.message)) {
        this.#drop();
        return undefined;
      }
      this.#unused = [];
      const errors = this.#put(made);
      if (errors.length > 0) return errors.join('\n');
      const { kind } = this;
      const own = first.version || version;
      this.#current = { kind, version: own, message, updatedMs: Date.now() };
      this.#host.stats.count(`${this.#statPrefix}config_reload`);
      return undefined;
    };
  }

  #drop(): void {
    for (const one of this.#unused) one.onDropped?.();
    this.#unused = [];
  }

  #put(fillings: readonly Filling[]): readonly string[] {
    return fillings.flatMap((filling) => {
      const errors = this.#native.apply(encodeUpdate(filling.update()));
      if (errors.length > 0) {
        filling.onDropped?.();
        return errors.map(({ message }) => message);
      }
      const next = filling.onPlaced?.();
      if (next?.left_route_tables) this.#native.apply(encodeUpdate(next));
      return [];
    });
  }
}
