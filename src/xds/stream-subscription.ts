// Resources of one kind from a stream to a control plane.
import { after } from '../base/after.js';
import { urlOf, type DiscoveryApi } from './api.js';
import { FirstFetch } from './first-fetch.js';
import type { Mux } from './mux.js';
import { canonicalName } from '../plan/resource-name.js';
import type { SubscriptionHost } from './subscription-host.js';
import type { Transport } from './transport.js';
import type { Updates } from './updates.js';
import type { Watcher } from './watcher.js';

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

export class StreamSubscription implements Transport {
  readonly #wants: StreamWants;
  /** More may be wanted by and by. */
  readonly #names: string[];
  readonly #mux: Mux;
  readonly #ownsMux: boolean;
  readonly #updates: Updates;
  readonly #host: SubscriptionHost;
  readonly #first: FirstFetch;
  #leave: (() => void) | undefined;

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
  }

  start(onFirst: () => void): void {
    const { api, onAnswered } = this.#wants;
    const { log } = this.#host;
    const url = urlOf(api);
    this.#updates.count('update_attempt');
    this.#first.start(onFirst, () => {
      log('warning', `gRPC config: initial fetch timed out for ${url}`);
      this.#updates.count('init_fetch_timeout');
      this.#updates.count('update_attempt');
    });
    const refused = (why: string): string => {
      log('warning', `gRPC config for ${url} rejected: ${why}`);
      this.#updates.count('update_rejected');
      this.#updates.count('update_attempt');
      this.#first.end();
      return why;
    };
    this.#leave = this.#mux.watch(api, {
      names: this.#names,
      isCollection: this.#wants.isCollection,
      prefix: this.#wants.prefix,
      onUpdate: (resources, version) =>
        after(this.#updates.take(resources, version, performance.now()), (wrong) => {
          // As the real server: incremental ones count it as they begin, too.
          if (wrong !== undefined && this.#mux.isDelta) this.#updates.count('update_attempt');
          if (wrong !== undefined) return refused(wrong);
          this.#updates.count('update_attempt');
          log(
            'debug',
            `gRPC config for ${url} accepted with ${resources.length} resources with version ${version}`,
          );
          this.#first.end();
          return undefined;
        }),
      onRefused: refused,
      onAbsent: (version) => {
        this.#wants.onAbsent?.();
        this.#updates.count('update_attempt');
        this.#updates.tellAbsence(version);
        this.#first.end();
      },
      ...(onAnswered && { onAnswered }),
      onFailure: () => {
        this.#updates.count('update_failure');
        this.#updates.count('update_attempt');
      },
    });
  }

  stop(): void {
    this.#first.stop();
    this.#leave?.();
    const { api, prefix } = this.#wants;
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

  ask(name: string): void {
    this.#updates.count('update_attempt');
    this.#mux.ask(this.#wants.api, name);
  }

  /** All of it was told. */
  refresh(): void {}
}
