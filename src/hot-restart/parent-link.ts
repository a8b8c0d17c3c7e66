// The successor's side: what this process asks of the one before it, from attaching to its end.
import { guarded, unawaited } from '../base/bugs.js';
import type { HotRestartAddon, Lifeline } from '../native-hot-restart.js';
import { SendError, type Channel } from './channel.js';
import type { Whole } from './fragments.js';
import type { RestartHost } from './host.js';
import {
  decodeReply,
  encodeRequest,
  type Reply,
  type Request,
  type Stats,
} from './messages.gen.js';
import { startInterval, startTimeout } from '../base/timers.js';

/** It answers within milliseconds, unless it is stopped or stuck. */
const ANSWER_TIMEOUT_MS = 10_000;
const PROBE_MS = 100;
/** Its connections are ended, its logs written. */
const END_TIMEOUT_MS = 10_000;

type Asked = Omit<Request, 'conversation' | 'number'>;

/** The parent process has ended. */
export class ParentGone extends Error {}
/** It is there, but there is no getting on with it. */
export class ParentRefuses extends Error {}

export interface Parent {
  /** What its socket is called. */
  readonly name: string;
  readonly epoch: number;
  /** Whether what it counted is merged. */
  readonly givesStats: boolean;
}

export class ParentLink {
  readonly #addon: HotRestartAddon;
  readonly #channel: Channel;
  readonly #parent: Parent;
  readonly #host: RestartHost;
  readonly #conversation = Math.floor(Math.random() * 2 ** 48);
  #lastNumber = 0;
  /** By the number of the request. */
  readonly #waiting = new Map<number, (outcome: Reply | Error) => void>();
  #probe: NodeJS.Timeout | undefined;
  #lifelines: Lifeline[] = [];
  #mine = -1;
  /** It has said that it ends. */
  #isLeaving = false;
  #isGone = false;
  #onGone: () => void = () => undefined;
  #connections = 0;

  /** `channel` is told by its owner to give what it hears to `hear`. */
  constructor(addon: HotRestartAddon, channel: Channel, parent: Parent, host: RestartHost) {
    this.#addon = addon;
    this.#channel = channel;
    this.#parent = parent;
    this.#host = host;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Of the parent and all before it, when it was asked last. */
  get connections(): number {
    return this.#isGone ? 0 : this.#connections;
  }

  /**
   * Resolves with the parent's generation. Rejects with ParentGone when there is none, ParentRefuses
   * when there is no getting on with it. `knowsCounters`: what it was told of them by a process in
   * between, which died.
   */
  async attach(version: string, epoch: number, knowsCounters: boolean): Promise<number> {
    const [mine, theirs] = this.#addon.openLifeline();
    // Held until this process ends: so the parent learns of it.
    this.#mine = mine;
    try {
      const attach = { version, epoch, replyTo: this.#channel.name, knowsCounters };
      const { attached } = await this.#ask({ attach }, [theirs]);
      if (!attached) throw this.#odd('not Attached');
      return attached.generation ?? 0;
    } finally {
      this.#addon.closeDescriptors([theirs]);
    }
  }

  /** Frees the admin address, or gives the host its socket. Resolves with when epoch 0 started. */
  async shutDownAdmin(): Promise<number> {
    const { adminShutDown } = await this.#ask({ shutDownAdmin: {} });
    if (!adminShutDown) throw this.#odd('not AdminShutDown');
    return Math.min(adminShutDown.originalStartMs ?? Infinity, Date.now());
  }

  /** Gives the data plane all listen sockets of the parent. */
  async takeSockets(): Promise<void> {
    for (let first = 0, hasMore = true; hasMore;) {
      const { sockets: reply } = await this.#ask({ takeSockets: { first } });
      const { sockets = [], hasMore: isMore = false } = reply ?? {};
      first += sockets.length;
      hasMore = isMore && sockets.length > 0;
    }
  }

  /** Merges what the parent counted since the last time, if it is wanted, and learns of connections. */
  async pullStats(): Promise<void> {
    const connectionsOnly = !this.#parent.givesStats;
    for (let hasMore = true; hasMore;) {
      const { stats } = await this.#ask({ getStats: { connectionsOnly } });
      if (!stats) throw this.#odd('not Stats');
      hasMore = stats.hasMore ?? false;
    }
  }

  async drainListeners(takenAddresses: readonly string[]): Promise<void> {
    await this.#ask({ drainListeners: { takenAddresses } });
  }

  /** Asks it to end. What it counted to the end is merged when it has told it: see `whenGone`. */
  async terminate(): Promise<void> {
    if (!this.#isGone) await this.#ask({ terminate: {} });
  }

  /** Calls back once the parent is gone, at once if it is. */
  whenGone(callback: () => void): void {
    if (this.#isGone) callback();
    else this.#onGone = callback;
  }

  /** Resolves when the parent is gone, or does not go. */
  untilGone(timeoutMs = END_TIMEOUT_MS): Promise<void> {
    const before = this.#onGone;
    return new Promise((resolve) => {
      const late = startTimeout(resolve, timeoutMs);
      this.whenGone(() => {
        clearTimeout(late);
        before();
        resolve();
      });
    });
  }

  close(): void {
    this.#stopProbe();
    for (const lifeline of this.#lifelines) lifeline.close();
    if (this.#mine >= 0) this.#addon.closeDescriptors([this.#mine]);
    this.#mine = -1;
  }

  /** What is asked before an answer is there is answered in the order of the requests. */
  async #ask(asked: Asked, descriptors: readonly number[] = []): Promise<Reply> {
    if (this.#isGone) throw this.#gone();
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const request = encodeRequest({ ...asked, conversation: this.#conversation, number });
    const answer = this.#untilAnswered(number, Object.keys(asked)[0] ?? '');
    this.#channel.send(this.#parent.name, request, descriptors).catch((error: unknown) => {
      const isGone = error instanceof SendError && error.isNobodyThere;
      this.#waiting.get(number)?.(isGone ? this.#gone() : this.#deaf(error as Error));
    });
    return answer;
  }

  #untilAnswered(number: number, what: string): Promise<Reply> {
    this.#probe ??= startInterval(() => this.#lookForParent(), PROBE_MS);
    return new Promise((resolve, reject) => {
      const settle = (outcome: Reply | Error): void => {
        clearTimeout(late);
        this.#waiting.delete(number);
        if (this.#waiting.size === 0) this.#stopProbe();
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      const late = startTimeout(() => settle(this.#silent(what)), ANSWER_TIMEOUT_MS);
      this.#waiting.set(number, settle);
    });
  }

  /** It may have died before it gave its lifeline, with a request in its queue. */
  #lookForParent(): void {
    if (!this.#channel.isSomebodyThere(this.#parent.name)) this.#failAll(this.#gone());
  }

  #stopProbe(): void {
    clearInterval(this.#probe);
    this.#probe = undefined;
  }

  #failAll(error: Error): void {
    for (const settle of [...this.#waiting.values()]) settle(error);
  }

  hear({ message, descriptors }: Whole): void {
    const reply = decodeReply(message);
    if (reply?.conversation !== this.#conversation) {
      this.#addon.closeDescriptors(descriptors);
      return;
    }
    if (reply.leaving) {
      this.#addon.closeDescriptors(descriptors);
      if (!this.#isLeaving) unawaited('the end of the parent process', this.#takeLeave());
      this.#isLeaving = true;
      return;
    }
    const settle = this.#waiting.get(reply.number ?? 0);
    // Without it nobody waits for this answer any more.
    const isGood = settle !== undefined && this.#adopt(reply, descriptors);
    if (!isGood) this.#addon.closeDescriptors(descriptors);
    // In any case: it will not tell the same again.
    if (reply.stats) this.#merge(reply.stats);
    if (reply.refusal !== undefined) this.#failAll(new ParentRefuses(reply.refusal));
    else settle?.(isGood ? reply : this.#odd('its descriptors'));
  }

  /** Descriptors get their owner. False: they are not what belongs to such an answer, and have none. */
  #adopt(reply: Reply, descriptors: readonly number[]): boolean {
    const [first] = descriptors;
    if (reply.attached) {
      return first !== undefined && descriptors.length === 1 && this.#watch(first);
    }
    if (!descriptors.every((descriptor) => this.#addon.isListening(descriptor))) return false;
    const { address } = reply.adminShutDown ?? {};
    if (address !== undefined) {
      if (first === undefined || descriptors.length > 1) return false;
      this.#host.inheritAdmin({ fd: first, address });
      return true;
    }
    const sockets = reply.sockets?.sockets ?? [];
    if (sockets.length !== descriptors.length) return false;
    this.#host.native.inherit(
      sockets.map(({ listener = '', address = '', anyPort = false }, index) => ({
        ...{ listener, address, anyPort },
        fd: descriptors[index] ?? -1,
      })),
    );
    return true;
  }

  /** False: it is nothing that can be watched. */
  #watch(descriptor: number): boolean {
    const onEnd = guarded('the end of the parent process', () => this.#end());
    const lifeline = this.#addon.watchLifeline(descriptor, onEnd);
    if (lifeline) this.#lifelines.push(lifeline);
    return lifeline !== undefined;
  }

  #merge({ batch, connections = 0 }: Stats): void {
    this.#connections = connections;
    try {
      if (batch) this.#host.native.importStats(batch);
    } catch (error) {
      this.#host.log.error('main', `statistics of the parent process: ${(error as Error).message}`);
    }
  }

  /** It has ended its connections: what it counted is final. */
  async #takeLeave(): Promise<void> {
    try {
      await this.pullStats();
      await this.#ask({ farewell: {} });
    } catch (error) {
      this.#host.log.warn('main', `last words of the parent process: ${(error as Error).message}`);
    }
    this.#end();
  }

  #end(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#host.native.endImports();
    this.#failAll(this.#gone());
    this.#onGone();
  }

  #gone(): ParentGone {
    return new ParentGone(`the parent process (epoch ${this.#parent.epoch}) is gone`);
  }

  #silent(what: string): ParentRefuses {
    const { epoch } = this.#parent;
    const seconds = ANSWER_TIMEOUT_MS / 1000;
    return new ParentRefuses(
      `the parent process (epoch ${epoch}) gives no answer to '${what}' within ${seconds} s`,
    );
  }

  #deaf({ message }: Error): ParentRefuses {
    return new ParentRefuses(
      `the parent process (epoch ${this.#parent.epoch}) cannot be asked: ${message}`,
    );
  }

  #odd(what: string): ParentRefuses {
    return new ParentRefuses(
      `the parent process (epoch ${this.#parent.epoch}) gives a wrong answer: ${what}`,
    );
  }
}
