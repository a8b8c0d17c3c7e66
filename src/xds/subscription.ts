// Resources of one kind, by whichever way they come. An update that is wrong anywhere is refused whole,
// and what was there before it goes on.
import type { Source } from '../plan/sources.js';
import type { DiscoveryApi } from './api.js';
import type { ControlPlanes } from './control-planes.js';
import type { InitTargets } from './init-targets.js';
import type { SubscriptionHost } from './subscription-host.js';
import type { Transport } from './transport.js';
import { Updates, type JudgeResources } from './updates.js';

export interface SubscriptionPlan {
  readonly source: Source;
  /** How the names of its statistics begin. */
  readonly statPrefix: string;
  readonly api: DiscoveryApi;
  /** None: all that there are. */
  readonly names: readonly string[];
  /** What /init_dump calls it while its first update is waited for. */
  readonly target: string;
  readonly judge: JudgeResources;
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
    const { statPrefix, judge, api } = plan;
    const updates = new Updates({ statPrefix, judge, type: api.type }, host);
    this.#transport = host.planes.transport(plan, updates);
    this.#target = plan.target;
    this.#targets = host.targets;
  }

  /** The first update was taken or refused, or is not waited for any longer. */
  get isFirstDone(): boolean {
    return this.#isFirstDone;
  }

  start(onFirst: () => void = () => undefined): void {
    const leave = this.#targets.add(this.#target);
    this.#leave = leave;
    this.#transport.start(() => {
      this.#isFirstDone = true;
      onFirst();
      leave();
    });
  }

  stop(): void {
    this.#transport.stop();
    this.#leave?.();
  }

  /** Takes what is there once more. */
  refresh(): void {
    this.#transport.refresh();
  }
}
