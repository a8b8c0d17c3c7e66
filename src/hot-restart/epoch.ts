// This process among those that take over from each other, from its start to its end: it attaches to
// the one before it, serves, and lets the next one attach.
import { unawaited } from '../base/bugs.js';
import type { Log } from '../logging/logger.js';
import type { HotRestartAddon } from '../native-hot-restart.js';
import { ChildLink } from './child-link.js';
import type { RestartHost } from './host.js';
import { socketName } from './names.js';
import { ParentGone, ParentLink, ParentRefuses } from './parent-link.js';
import { RestartError, takePlace, type Place, type RestartOptions } from './place.js';
import { hotRestartVersion } from './version.js';
import { startTimeout } from '../base/timers.js';

export interface EpochOptions extends RestartOptions {
  readonly skipHotRestartParentStats: boolean;
  readonly parentShutdownTimeS: number;
}

/** What is left of them then is not waited for. */
const ELDERS_END_MS = 1000;

export class Epoch {
  readonly version: string;
  readonly epoch: number;
  readonly #addon: HotRestartAddon;
  readonly #options: EpochOptions;
  readonly #place: Place;
  readonly #log: Log;
  #originalStartMs: number;
  #generation: number;
  #isInitializing = true;
  #hasLostParent = false;
  #parent: ParentLink | undefined;
  #child: ChildLink | undefined;
  /** Addresses that came from the parent, once this process accepts connections. */
  #taken: readonly string[] | undefined;
  #shutdownTimer: NodeJS.Timeout | undefined;

  /** Throws a RestartError. Disturbs no other process. */
  constructor(addon: HotRestartAddon, options: EpochOptions, log: Log) {
    this.#addon = addon;
    this.#options = options;
    this.#log = log;
    this.version = hotRestartVersion(addon);
    this.epoch = options.restartEpoch;
    this.#place = takePlace(addon, options);
    const { region } = this.#place;
    region.shareLines();
    this.#originalStartMs = region.originalStartMs;
    this.#generation = region.generation + 1;
    if (this.#place.replacedLeftover) {
      log.info('main', 'shared memory that crashed processes left behind was made anew');
    }
  }

  get baseId(): number {
    return this.#place.baseId;
  }

  /** How many processes served in a row, this one included. */
  get generation(): number {
    return this.#generation;
  }

  /** When epoch 0 started: milliseconds since 1970. */
  get originalStartMs(): number {
    return this.#originalStartMs;
  }

  /** It was killed while this process attached to it. */
  get hasLostParent(): boolean {
    return this.#hasLostParent;
  }

  get isInitializing(): boolean {
    return this.#isInitializing;
  }

  get parentConnections(): number {
    return this.#parent?.connections ?? 0;
  }

  /**
   * Takes over the admin address, listen sockets and statistics of the parent, if there is one. It
   * serves on. Rejects with a RestartError; a parent that dies is none, and the one before it is next.
   */
  async attach(host: RestartHost): Promise<void> {
    const first = this.#place.parentEpoch;
    if (first === undefined && this.epoch > 0) {
      this.#log.warn('main', `there is no process of epoch ${this.epoch - 1}`);
    }
    for (let elder = first; elder !== undefined; elder = this.#newestBelow(elder)) {
      const parent = this.#follow(elder, host);
      try {
        // All at once: each turn of two processes takes as long as what there is to say.
        const [generation, originalStartMs] = await Promise.all([
          parent.attach(this.version, this.epoch, false),
          parent.shutDownAdmin(),
          parent.takeSockets(),
          parent.pullStats(),
        ]);
        this.#generation = generation + 1;
        this.#originalStartMs = originalStartMs;
        parent.whenGone(() => this.#parentGone(elder, host));
        return;
      } catch (error) {
        parent.close();
        this.#parent = undefined;
        if (error instanceof ParentRefuses && elder === first)
          throw new RestartError(error.message);
        if (!(error instanceof ParentRefuses || error instanceof ParentGone)) throw error;
        if (error instanceof ParentGone) this.#hasLostParent = true;
        this.#log.error('main', `${error.message}: starting without it`);
      }
    }
  }

  /** This process accepts connections. */
  async live(host: RestartHost): Promise<void> {
    const { region, parentChannel, listeners } = this.#place;
    const taken = host.native.endInheritance();
    this.#taken = taken;
    const { version, epoch, generation, originalStartMs } = this;
    const identity = { version, epoch, generation, originalStartMs };
    const parent = (): ParentLink | undefined => this.#parent;
    this.#child = new ChildLink(this.#addon, parentChannel, identity, host, parent, region);
    listeners.asParent = (whole) => this.#child?.hear(whole);
    region.serve(epoch, generation);
    region.endInitializing();
    this.#isInitializing = false;
    this.#shutdownTimer = startTimeout(
      () => unawaited('the end of the parent process', this.#shutDownParent()),
      this.#options.parentShutdownTimeS * 1000,
    );
    this.#shutdownTimer.unref();
    await this.#parent?.drainListeners(taken).catch(() => undefined);
  }

  /** Merges what the parent counted since the last time. */
  async pullStats(): Promise<void> {
    const parent = this.#parent;
    if (!parent || parent.isGone) return;
    await parent.pullStats().catch(() => undefined);
  }

  /** This process is asked to end. Its connections go on until `connectionsEnded`. */
  async beginEnd(): Promise<void> {
    clearTimeout(this.#shutdownTimer);
    const parent = this.#parent;
    if (!parent || parent.isGone) return;
    // Only who serves may end the one before; until then that one serves.
    if (this.#isInitializing) return;
    await parent.terminate().catch(() => undefined);
    // What it counted goes on to a successor through this process.
    if (this.#child?.hasChild) await parent.untilGone();
  }

  /** Resolves when the one before is gone, as it has been asked to be: its last numbers are here. */
  async eldersEnded(): Promise<void> {
    if (!this.#isInitializing) await this.#parent?.untilGone(ELDERS_END_MS);
  }

  /** Hands the last numbers on. */
  async connectionsEnded(): Promise<void> {
    await this.#child?.leave();
  }

  /** Nothing of this process is left for others to see. */
  close(): void {
    const { parentChannel, childChannel, region } = this.#place;
    this.#child?.close();
    this.#parent?.close();
    parentChannel.close();
    childChannel.close();
    region.close();
  }

  /** Of the processes that were there before this one. */
  #newestBelow(epoch: number): number | undefined {
    return this.#place.region.otherEpochs().findLast((other) => other < epoch);
  }

  #follow(epoch: number, host: RestartHost): ParentLink {
    const { childChannel, listeners, baseId } = this.#place;
    const { socketPath, skipHotRestartParentStats } = this.#options;
    const parent = new ParentLink(
      this.#addon,
      childChannel,
      {
        name: socketName(socketPath, 'parent', baseId, epoch),
        epoch,
        givesStats: !skipHotRestartParentStats,
      },
      host,
    );
    listeners.asChild = (whole) => parent.hear(whole);
    this.#parent = parent;
    return parent;
  }

  /**
   * One before it may still be there: it drains, or has begun to serve again while this process was
   * starting. This one is its successor now.
   */
  #parentGone(gone: number, host: RestartHost): void {
    const elder = host.isEnding ? undefined : this.#newestBelow(gone);
    if (elder === undefined) return;
    this.#log.warn('main', `following the process of epoch ${elder}: epoch ${gone} is gone`);
    unawaited('following another parent process', this.#adopt(elder, host));
  }

  async #adopt(elder: number, host: RestartHost): Promise<void> {
    this.#parent?.close();
    const parent = this.#follow(elder, host);
    parent.whenGone(() => this.#parentGone(elder, host));
    try {
      await Promise.all([
        parent.attach(this.version, this.epoch, true),
        parent.shutDownAdmin(),
        parent.pullStats(),
        ...(this.#taken ? [parent.drainListeners(this.#taken)] : []),
      ]);
      if (!this.#isInitializing && parent.connections === 0) await parent.terminate();
    } catch (error) {
      // Where it has gone meanwhile, that has been seen to.
      if (this.#parent !== parent || parent.isGone) return;
      this.#log.warn('main', (error as Error).message);
      this.#parent = undefined;
      parent.close();
      this.#parentGone(elder, host);
    }
  }

  async #shutDownParent(): Promise<void> {
    this.#log.info('main', 'shutting down parent after drain');
    await this.#parent?.terminate().catch(() => undefined);
  }
}
