// Resources of one kind, by whichever way they come. An update that is wrong anywhere is refused whole,
// and what was there before it goes on.
import type { Source } from '../plan/sources.js';
import type { DiscoveryApi } from './api.js';
import type { ControlPlanes } from './control-planes.js';
import type { InitTargets } from './init-targets.js';
import type { SubscriptionHost } from './subscription-host.js';
import type { Transport } from './transport.js';
import { Updates, type JudgeResources } from './updates.js';
import type { Watcher } from './watcher.js';

export interface SubscriptionPlan {
  readonly source: Source;
  /** How the names of its statistics begin. */
  readonly statPrefix: string;
  readonly api: DiscoveryApi;
  /** None: all that there are. */
  readonly names: readonly string[];
  /** The only name is that of a collection. */
  readonly isCollection?: boolean;
  /** As Watcher's. */
  readonly prefix?: string;
  /** What /init_dump calls it while its first update is waited for. */
  readonly target: string;
  readonly judge: JudgeResources;
  /** As UpdatesPlan's. */
  readonly judgesEach?: boolean;
  /** As Watcher's. */
  readonly onAnswered?: NonNullable<Watcher['onAnswered']>;
  /** What it asks for is not there, or not any more. */
  readonly onAbsent?: () => void;
  /** As UpdatesPlan's. */
  readonly onRejected?: () => void;
}

/** What all subscriptions of a server share. */
export interface Subscribing extends SubscriptionHost {
  readonly planes: ControlPlanes;
  readonly targets: InitTargets;
}

export class Subscription {
  readonly #transport: Transport;
  readonly #target: string;
  readonly #targets: InitTargets;
  #leave: (() => void) | undefined;
  #isFirstDone = false;

  constructor(plan: SubscriptionPlan, host: Subscribing) {
    const { statPrefix, judge, judgesEach, api, onRejected } = plan;
    const { type } = api;
    const updates = new Updates({ statPrefix, judge, judgesEach, type, onRejected }, host);
    this.#transport = host.planes.transport(plan, updates);
    this.#target = plan.target;
    this.#targets = host.targets;
  }

  /** The first update was taken or refused, or is not waited for any longer. */
  get isFirstDone(): boolean {
    return this.#isFirstDone;
  }

  /** `isWaitedFor`: the start of the server waits for the first update. */
  start(onFirst: () => void = () => undefined, isWaitedFor = true): void {
    const leave = isWaitedFor ? this.#targets.add(this.#target) : () => undefined;
    this.#leave = leave;
    this.#transport.start(() => {
      this.#isFirstDone = true;
      this.#leave = undefined;
      onFirst();
      leave();
    });
  }

  stop(): void {
    this.#transport.stop();
    this.#leave?.();
  }

  /** One name more to be followed; false: it has to be made anew for that. */
  want(name: string): boolean {
    this.#transport.want?.(name);
    return this.#transport.want !== undefined;
  }

  /** Beside what it is there for; `isOnce`: not again while it is asked for. False: that is not to be had. */
  ask(name: string, isOnce = false): boolean {
    this.#transport.ask?.(name, isOnce);
    return this.#transport.ask !== undefined;
  }

  /** Takes what is there once more. */
  refresh(): void {
    this.#transport.refresh();
  }
}
