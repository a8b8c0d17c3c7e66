// The predecessor's side: answers the process that takes over from this one, and serves again when
// that process ends before its time.
import { guarded, unawaited } from '../base/bugs.js';
import type { ExportedStats } from '../native-stats.js';
import type { HotRestartAddon, Lifeline, SharedRegion } from '../native-hot-restart.js';
import { atMost } from '../base/patience.js';
import type { Channel } from './channel.js';
import type { Whole } from './fragments.js';
import type { RestartHost } from './host.js';
import {
  decodeRequest,
  encodeReply,
  type Attach,
  type GetStats,
  type Reply,
  type Request,
  type Stats,
} from './messages.gen.js';
import type { ParentLink } from './parent-link.js';
import { startTimeout } from '../base/timers.js';

/** Of statistics in one answer: some milliseconds of both processes. */
const STATS_BYTES = 256 * 1024;
/** How long an answer waits for processes before this one, which may be stuck. */
const ELDERS_MS = 1000;
/** How often it is asked whether a process still starts. */
const LOOK_MS = 50;
/** How long the end waits for the successor to take the last numbers. */
const LAST_WORDS_MS = 3000;

export interface Identity {
  readonly version: string;
  readonly epoch: number;
  readonly generation: number;
  readonly originalStartMs: number;
}

type Answer = Omit<Reply, 'conversation' | 'number'>;

interface Child {
  readonly conversation: number;
  readonly epoch: number;
  readonly replyTo: string;
  readonly lifeline: Lifeline;
  /** Closed with this process: so the child learns of its end. */
  readonly mine: number;
  /** The totals that it gets first. */
  totals?: ExportedStats | undefined;
}

export class ChildLink {
  readonly #addon: HotRestartAddon;
  readonly #channel: Channel;
  readonly #host: RestartHost;
  readonly #identity: Identity;
  readonly #parent: () => ParentLink | undefined;
  readonly #region: SharedRegion;
  #child: Child | undefined;
  #isEnding = false;
  /** A successor has, or had, the admin address; and then what is accepted. */
  #isAdminAway = false;
  #areListenersAway = false;
  /** Whoever took over has handed on what it took: this process drains to its end, whoever dies. */
  #isPassedOn = false;
  /** Without a child: until the admin address is free, or until the end. */
  #timer: NodeJS.Timeout | undefined;
  #onFarewell: () => void = () => undefined;
  /** Requests are answered one after the other. */
  #answering: Promise<unknown> = Promise.resolve();

  /** `parent`: who this process took over from, or whom it follows since that one died. */
  constructor(
    addon: HotRestartAddon,
    channel: Channel,
    identity: Identity,
    host: RestartHost,
    parent: () => ParentLink | undefined,
    region: SharedRegion,
  ) {
    this.#addon = addon;
    this.#channel = channel;
    this.#identity = identity;
    this.#host = host;
    this.#parent = parent;
    this.#region = region;
  }

  hear(whole: Whole): void {
    this.#answering = this.#answering
      .then(() => this.#answer(whole))
      .catch((error: unknown) => {
        this.#host.log.warn('main', `hot restart: ${(error as Error).message}`);
      });
  }

  get hasChild(): boolean {
    return this.#child !== undefined;
  }

  /** Connections have ended: the child takes the last numbers. Resolves when it has, or does not. */
  async leave(): Promise<void> {
    this.#isEnding = true;
    const child = this.#child;
    if (!child) return;
    let timer: NodeJS.Timeout | undefined;
    const farewell = new Promise<void>((resolve) => {
      this.#onFarewell = resolve;
      timer = startTimeout(resolve, LAST_WORDS_MS);
    });
    try {
      await this.#send(child, 0, { leaving: {} });
      await farewell;
    } catch {
      // It is gone as well.
    }
    clearTimeout(timer);
  }

  close(): void {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    this.#letGo();
  }

  async #answer({ message, descriptors }: Whole): Promise<void> {
    const request = decodeRequest(message);
    if (request?.attach && descriptors.length === 1) {
      await this.#attach(request, request.attach, descriptors[0] ?? -1);
      return;
    }
    this.#addon.closeDescriptors(descriptors);
    const child = this.#child;
    // Of one that is gone, or of nobody that we know.
    if (!request || !child || request.conversation !== child.conversation) return;
    const { descriptors: beside = [], ...answer } = await this.#answerTo(request, child);
    await this.#send(child, request.number ?? 0, answer, beside);
    if (request.terminate) this.#terminate();
    if (request.farewell) this.#onFarewell();
  }

  async #attach(request: Request, attach: Attach, lifeline: number): Promise<void> {
    const { conversation = 0, number = 0 } = request;
    const refusal = this.#refusalOf(attach);
    if (refusal !== undefined) {
      this.#addon.closeDescriptors([lifeline]);
      const reply = encodeReply({ conversation, number, refusal });
      await this.#channel.send(attach.replyTo ?? '', reply);
      return;
    }
    // One before it is dead, even if that has not been heard of here.
    if (this.#child) this.#childGone(this.#child);
    clearTimeout(this.#timer);
    const onEnd = guarded('the end of a successor', () => this.#childGone(child));
    const watched = this.#addon.watchLifeline(lifeline, onEnd);
    if (!watched) throw new Error('the descriptor of a successor cannot be watched');
    const [mine, theirs] = this.#addon.openLifeline();
    const { epoch = 0, replyTo = '' } = attach;
    const child: Child = { conversation, epoch, replyTo, lifeline: watched, mine };
    this.#child = child;
    this.#host.native.beginExport(attach.knowsCounters ?? false);
    try {
      await this.#send(child, number, { attached: { generation: this.#identity.generation } }, [
        theirs,
      ]);
    } finally {
      this.#addon.closeDescriptors([theirs]);
    }
  }

  #refusalOf({ version, epoch = 0 }: Attach): string | undefined {
    const own = this.#identity;
    if (version !== own.version) {
      return `the parent process has hot restart version ${own.version}, this one has ${version}: they cannot take over from each other`;
    }
    if (epoch <= own.epoch) {
      return `the parent process is epoch ${own.epoch}: the next one is --restart-epoch ${own.epoch + 1}`;
    }
    if (this.#isEnding) return `the parent process (epoch ${own.epoch}) is ending`;
    if (this.#child && this.#child.epoch >= epoch) {
      return `another process of epoch ${this.#child.epoch} has taken over, or is about to`;
    }
    return undefined;
  }

  async #answerTo(
    request: Request,
    child: Child,
  ): Promise<Answer & { readonly descriptors?: readonly number[] }> {
    const { native, log } = this.#host;
    if (request.shutDownAdmin) {
      if (!this.#isAdminAway) log.warn('main', 'shutting down admin due to child startup');
      this.#isAdminAway = true;
      // In one go: what sinks got from here for the last time is what the child begins with. What is
      // told later it sends to them.
      await this.#pullFromElders();
      const admin = this.#host.suspendAdmin();
      child.totals = native.exportStats(STATS_BYTES);
      unawaited('the end of a parent process', this.#endIdleParent());
      const { originalStartMs } = this.#identity;
      return {
        adminShutDown: { originalStartMs, ...(admin && { address: admin.address }) },
        descriptors: admin ? [admin.fd] : [],
      };
    }
    if (request.takeSockets) {
      const { first = 0 } = request.takeSockets;
      const all = native.listenSockets();
      const some = all.slice(first, first + this.#addon.maxDescriptors);
      return {
        sockets: { sockets: some, hasMore: first + some.length < all.length },
        descriptors: some.map(({ fd }) => fd),
      };
    }
    if (request.drainListeners) {
      if (!this.#areListenersAway) log.info('main', 'closing and draining listeners');
      this.#areListenersAway = true;
      // One that ends has nothing to hand over: its sockets are the child's already.
      if (this.#host.isEnding) return { done: {} };
      await native.handOver(request.drainListeners.takenAddresses ?? []);
      this.#host.drainForSuccessor();
      return { done: {} };
    }
    if (request.getStats) {
      return { stats: await this.#statsFor(request.getStats, child) };
    }
    return { done: {} };
  }

  async #statsFor({ connectionsOnly = false }: GetStats, child: Child): Promise<Stats> {
    const { totals } = child;
    child.totals = undefined;
    if (!totals) await this.#pullFromElders();
    const connections = this.#host.connectionCount();
    if (connectionsOnly) return { connections };
    const { batch, more } = totals ?? this.#host.native.exportStats(STATS_BYTES);
    return { batch, hasMore: more, connections };
  }

  /** What comes too late is merged when it comes. */
  async #pullFromElders(): Promise<void> {
    const parent = this.#parent();
    if (!parent || parent.isGone) return;
    await atMost(
      ELDERS_MS,
      parent.pullStats().catch(() => undefined),
    );
  }

  /** One before this process that has nothing left to do ends now. */
  async #endIdleParent(): Promise<void> {
    const parent = this.#parent();
    if (!parent || parent.isGone) return;
    try {
      await parent.pullStats();
      if (parent.connections > 0) return;
      this.#host.log.warn('main', 'terminating parent process');
      await parent.terminate();
    } catch {
      // It has ended meanwhile.
    }
  }

  #terminate(): void {
    this.#host.log.info('main', 'shutting down due to child request');
    this.#host.log.warn('main', 'caught ENVOY_SIGTERM');
    this.#host.quit();
  }

  /** However it ended: nothing of it is left. */
  #childGone(child: Child): void {
    if (this.#child !== child) return;
    this.#letGo();
    this.#onFarewell();
    if (this.#isEnding || this.#host.isEnding) return;
    const { log } = this.#host;
    if (this.#areListenersAway) {
      this.#isPassedOn ||= this.#region.otherEpochs().some((epoch) => epoch > child.epoch);
    }
    if (this.#isPassedOn) {
      log.warn(
        'main',
        `the process of epoch ${child.epoch} is gone, this one has handed on: it drains`,
      );
      this.#endInTime();
      return;
    }
    log.warn('main', `the process of epoch ${child.epoch} ended before this one: serving again`);
    if (this.#areListenersAway) this.#takeBack();
    this.#resumeAdmin();
  }

  #letGo(): void {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    child.lifeline.close();
    this.#addon.closeDescriptors([child.mine]);
  }

  #takeBack(): void {
    this.#areListenersAway = false;
    for (const { name, message } of this.#host.native.takeBack()) {
      this.#host.log.error('config', `listener '${name}': ${message}`);
    }
    this.#host.endDrain();
  }

  /** A process that is starting has, or is about to take, the admin address: until it is known. */
  #resumeAdmin(): void {
    if (!this.#isAdminAway || this.#child || this.#isEnding) return;
    if (this.#region.isAnyoneInitializing()) {
      this.#timer = startTimeout(() => this.#resumeAdmin(), LOOK_MS).unref();
      return;
    }
    this.#isAdminAway = false;
    unawaited('the admin address', this.#host.resumeAdmin());
  }

  /** The later one says when this process is to end. It may not: then this is when it would have. */
  #endInTime(): void {
    const { parentShutdownTimeS } = this.#host.options;
    this.#timer = startTimeout(() => {
      this.#host.log.info('main', 'shutting down: nobody asks for it any more');
      this.#host.quit();
    }, parentShutdownTimeS * 1000).unref();
  }

  async #send(
    child: Child,
    number: number,
    answer: Answer,
    descriptors: readonly number[] = [],
  ): Promise<void> {
    const reply = encodeReply({ ...answer, conversation: child.conversation, number });
    await this.#channel.send(child.replyTo, reply, descriptors);
  }
}
