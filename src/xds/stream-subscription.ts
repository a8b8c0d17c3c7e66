// Resources of one kind from a stream to a control plane.
import { after, type Maybe } from '../base/after.js';
import { urlOf, type DiscoveryApi } from './api.js';
import { FirstFetch } from './first-fetch.js';
import type { Mux } from './mux.js';
import { canonicalName } from '../plan/resource-name.js';
import type { SubscriptionHost } from './subscription-host.js';
import type { Transport } from './transport.js';
import type { Updates } from './updates.js';
import type { KnownResource, Watcher } from './watcher.js';

export interface StreamWants {
  readonly api: DiscoveryApi;
  /** None: all that there are. */
  readonly names: readonly string[];
  /** The only name is that of a collection. */
  readonly isCollection?: boolean | undefined;
  /** As Watcher's. */
  readonly prefix?: string | undefined;
  readonly initialFetchTimeoutMs: number;
  readonly onAnswered?: Watcher['onAnswered'] | undefined;
  readonly onAbsent?: (() => void) | undefined;
}

/** One of thousands, which all have a stream: it is the watcher itself, without a closure for what it hears. */
export class StreamSubscription implements Transport, Watcher {
  readonly #wants: StreamWants;
  /** More may be wanted by and by. */
  readonly #names: string[];
  readonly #mux: Mux;
  readonly #ownsMux: boolean;
  readonly #updates: Updates;
  readonly #host: SubscriptionHost;
  readonly #first: FirstFetch;
  #isWatching = false;
  /** Of those that want it: a stream looks who has it. */
  readonly onAnswered?: NonNullable<Watcher['onAnswered']>;

  /** `ownsMux`: nobody else uses the stream. */
  constructor(
    wants: StreamWants,
    stream: { readonly mux: Mux; readonly ownsMux: boolean },
    updates: Updates,
    host: SubscriptionHost,
  ) {
    this.#wants = wants;
    this.#names = wants.names.map(canonicalName);
    this.#mux = stream.mux;
    this.#ownsMux = stream.ownsMux;
    this.#updates = updates;
    this.#host = host;
    this.#first = new FirstFetch(wants.initialFetchTimeoutMs);
    if (wants.onAnswered) this.onAnswered = wants.onAnswered;
  }

  get names(): readonly string[] {
    return this.#names;
  }

  get isCollection(): boolean | undefined {
    return this.#wants.isCollection;
  }

  get prefix(): string | undefined {
    return this.#wants.prefix;
  }

  start(onFirst: () => void): void {
    this.#updates.count('update_attempt');
    this.#first.start(onFirst, () => {
      this.#host.log('warning', `gRPC config: initial fetch timed out for ${this.#url}`);
      this.#updates.count('init_fetch_timeout');
      this.#updates.count('update_attempt');
    });
    this.#isWatching = true;
    this.#mux.watch(this.#wants.api, this);
  }

  onUpdate(
    resources: readonly KnownResource[],
    version: string,
    removed?: readonly string[],
  ): Maybe<string | undefined> {
    const taken = this.#updates.take(resources, version, performance.now(), { removed });
    return after(taken, (wrong) => {
      // As the real server: incremental ones count it as they begin, too.
      if (wrong !== undefined && this.#mux.isDelta) this.#updates.count('update_attempt');
      if (wrong !== undefined) return this.#refuse(wrong);
      this.#updates.count('update_attempt');
      this.#host.log(
        'debug',
        `gRPC config for ${this.#url} accepted with ${resources.length} resources with version ${version}`,
      );
      this.#first.end();
      return undefined;
    });
  }

  onRefused(why: string): void {
    this.#refuse(why);
  }

  onAbsent(version: string): void {
    this.#wants.onAbsent?.();
    this.#updates.count('update_attempt');
    this.#updates.tellNothingNew(version);
    this.#first.end();
  }

  onFailure(): void {
    this.#updates.count('update_failure');
    this.#updates.count('update_attempt');
  }

  stop(): void {
    this.#first.stop();
    const { api, prefix } = this.#wants;
    if (this.#isWatching) this.#mux.unwatch(api, this);
    if (prefix !== undefined && !this.#ownsMux) this.#mux.forgetAsked(api, prefix);
    if (this.#ownsMux) this.#mux.stop();
  }

  want(name: string): void {
    if (this.#names.includes(name)) {
      this.#mux.ask(this.#wants.api, name);
      return;
    }
    this.#updates.count('update_attempt');
    this.#names.push(canonicalName(name));
    this.#mux.nudge(this.#wants.api);
  }

  ask(name: string, isOnce: boolean): void {
    this.#updates.count('update_attempt');
    this.#mux.ask(this.#wants.api, name, isOnce);
  }

  /** All of it was told. */
  refresh(): void {}

  get #url(): string {
    return urlOf(this.#wants.api);
  }

  #refuse(why: string): string {
    this.#host.log('warning', `gRPC config for ${this.#url} rejected: ${why}`);
    this.#updates.count('update_rejected');
    this.#updates.count('update_attempt');
    this.#first.end();
    return why;
  }
}
