// Types of resources over one stream: that of the bootstrap (ADS), or one of a subscription's own.
import { guarded, unawaited } from '../base/bugs.js';
import { startImmediate } from '../base/timers.js';
import { isAskedTogether, urlOf, type DiscoveryApi } from './api.js';
import { decodeResources } from './decode-resources.js';
import { DeltaState } from './delta-state.js';
import { DiscoveryStream, type StreamHost } from './discovery-stream.js';
import { decodeDelta, decodeSotw, type DiscoveryResponse } from './discovery-wire.js';
import { SotwState } from './sotw-state.js';
import type { GrpcClient } from '../grpc/client.js';
import type { StreamPlan } from '../plan/sources.js';
import type { SubscriptionHost } from './subscription-host.js';
import type { TypeState } from './type-state.js';
import type { Watcher } from './watcher.js';

/** In which field resources have their names, where not in `name`. */
const NAME_FIELDS: Readonly<Record<string, string>> = {
  'envoy.config.endpoint.v3.ClusterLoadAssignment': 'cluster_name',
};

export interface MuxParts {
  /** How the names of its statistics begin. */
  readonly statPrefix: string;
  readonly method: string;
  readonly node: Uint8Array;
  readonly makeClient: () => Promise<GrpcClient>;
  /** The stream is not needed any more. */
  readonly onStop: () => void;
}

export class Mux {
  readonly #plan: StreamPlan;
  readonly #host: SubscriptionHost;
  readonly #node: Uint8Array;
  readonly #statPrefix: string;
  readonly #stream: DiscoveryStream;
  readonly #onStop: () => void;
  /** By URL, in the order in which they were first asked for: as in the real server that of requests. */
  readonly #types = new Map<string, TypeState>();
  /** By URL: nothing is asked and answered of it for now. */
  readonly #held = new Set<string>();
  /** Those of which something has come. */
  readonly #begun = new Set<TypeState>();
  #isNodeSent = false;
  #isStarted = false;
  #isFlushing = false;
  /** Responses that have come, and which stream they came on. */
  #responses: { readonly bytes: Buffer; readonly stream: number }[] = [];
  #isBusy = false;
  /** Counts streams. */
  #current = 0;
  /** Requests of the first stream that were made before it was there. */
  #early: { readonly state: TypeState; readonly bytes: Buffer }[] = [];

  constructor(plan: StreamPlan, host: SubscriptionHost & StreamHost, parts: MuxParts) {
    this.#plan = plan;
    this.#host = host;
    this.#node = parts.node;
    this.#statPrefix = parts.statPrefix;
    this.#onStop = parts.onStop;
    this.#stream = new DiscoveryStream(plan, parts.method, host, {
      statPrefix: parts.statPrefix,
      makeClient: parts.makeClient,
      events: {
        onOpen: () => this.#opened(),
        onMessage: (bytes) => this.#received(bytes),
        onClosed: () => this.#closed(),
      },
    });
  }

  get isDelta(): boolean {
    return this.#plan.isDelta;
  }

  /** What has come already is told at once. */
  watch(api: DiscoveryApi, watcher: Watcher): void {
    const state = this.#stateOf(api);
    state.add(watcher);
    this.#start();
    if (isAskedTogether(api)) this.#flushSoon();
    else this.#tell(state);
  }

  unwatch(api: DiscoveryApi, watcher: Watcher): void {
    this.#stateOf(api).remove(watcher);
    this.#flushSoon();
  }

  /** Its stream is there, whether anybody asks or not. */
  open(): void {
    this.#start();
  }

  /** Whether requests and answers of that type wait. */
  hold(api: DiscoveryApi, isHeld: boolean): void {
    if (isHeld) this.#held.add(urlOf(api));
    else if (this.#held.delete(urlOf(api))) this.#flushSoon();
  }

  /** A watcher of that type asks for more. */
  nudge(api: DiscoveryApi): void {
    this.#stateOf(api).onNames();
    this.#flushSoon();
  }

  /** Beside what watchers ask for: each name once more each time, or `isOnce`. Of incremental streams. */
  ask(api: DiscoveryApi, name: string, isOnce = false): void {
    this.#stateOf(api).ask(name, isOnce);
    this.#flushSoon();
  }

  /** What was asked for so, and begins like that, is not asked for any more. */
  forgetAsked(api: DiscoveryApi, prefix: string): void {
    this.#stateOf(api).forgetAsked(prefix);
    this.#flushSoon();
  }

  stop(): void {
    this.#stream.stop();
    this.#responses = [];
    this.#current++;
    for (const state of this.#types.values()) state.stop();
    this.#onStop();
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    unawaited('the start of a discovery stream', this.#stream.start());
  }

  #stateOf(api: DiscoveryApi): TypeState {
    const url = urlOf(api);
    const known = this.#types.get(url);
    if (known) return known;
    const made = this.#plan.isDelta ? new DeltaState(api) : new SotwState(api);
    this.#types.set(url, made);
    return made;
  }

  #opened(): void {
    this.#current++;
    this.#responses = [];
    const early = this.#early;
    this.#early = [];
    const begun = new Set(early.map(({ state }) => state));
    for (const state of this.#types.values()) state.opened(begun.has(state));
    for (const { bytes } of early) this.#stream.send(() => bytes);
    this.#isNodeSent = early.length > 0;
    this.#flushSoon();
  }

  #closed(): void {
    for (const { watchers } of this.#types.values()) {
      for (const watcher of [...watchers]) watcher.onFailure();
    }
  }

  #received(bytes: Buffer): void {
    this.#responses.push({ bytes, stream: this.#current });
    if (!this.#isBusy) unawaited('a discovery response', this.#work());
  }

  /** One after the other: while one is taken, nothing is asked for. */
  async #work(): Promise<void> {
    this.#isBusy = true;
    try {
      for (let next = this.#responses.shift(); next; next = this.#responses.shift()) {
        const answered = await this.#take(next.bytes, next.stream);
        if (answered) await this.#begin(answered);
        this.#flush(answered);
      }
    } finally {
      this.#isBusy = false;
    }
  }

  /** As in the real server: what could begin with the first response of a type is asked for before its answer. */
  async #begin(state: TypeState): Promise<void> {
    if (this.#begun.has(state)) return;
    this.#begun.add(state);
    await new Promise<void>((resolve) => startImmediate(resolve));
  }

  /** The type that it is answered for. */
  async #take(bytes: Buffer, stream: number): Promise<TypeState | undefined> {
    const { log, stats } = this.#host;
    let response: DiscoveryResponse;
    try {
      response = await (this.#plan.isDelta ? decodeDelta(bytes) : decodeSotw(bytes));
    } catch (error) {
      // As the real server, whose gRPC decodes messages.
      if (stream !== this.#current) return undefined;
      this.#responses = [];
      this.#stream.breakOff(`a response is no protobuf: ${(error as Error).message}`);
      return undefined;
    }
    if (response.identifier !== '')
      stats.setText(`${this.#statPrefix}identifier`, response.identifier);
    const state = this.#types.get(response.url);
    if (!state) {
      log(
        'warning',
        `Ignoring the message for type URL ${response.url} as it has no current subscribers.`,
      );
      return undefined;
    }
    const { type } = state.api;
    const nameField = NAME_FIELDS[type] ?? 'name';
    const wanted = state.wantedOf(response);
    const decoded = await decodeResources(wanted, nameField, this.#host, this.isDelta);
    // The stream has ended meanwhile: the next has all of it again.
    if (stream !== this.#current) return undefined;
    if ('why' in decoded) state.refuse(wanted, decoded.why);
    else await state.take(wanted, decoded.resources);
    return state;
  }

  /** At once, where the real server gathers nothing. */
  #tell(state: TypeState): void {
    if (this.#held.has(state.url)) return;
    if (this.#stream.isOpen) {
      this.#send(state);
    } else if (this.#current === 0) {
      const bytes = this.#request(state)?.();
      if (bytes) this.#early.push({ state, bytes });
    }
  }

  #send(state: TypeState): void {
    for (let next = this.#request(state); next; next = this.#request(state)) {
      this.#stream.send(next);
    }
  }

  /** Later, with all that is asked for meanwhile. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(
      guarded('requests of resources', () => {
        this.#isFlushing = false;
        if (!this.#isBusy) this.#flush();
      }),
    );
  }

  /** `answered`: as in the real server, what its resources made others ask for is asked before its answer. */
  #flush(answered?: TypeState): void {
    if (!this.#stream.isOpen) return;
    const others = [...this.#types.values()].filter((state) => state !== answered);
    let held = 0;
    for (const state of answered ? [...others, answered] : others) {
      if (this.#held.has(state.url)) held += state.waitingAnswers;
      else this.#send(state);
    }
    this.#stream.holdBack(held);
  }

  #request(state: TypeState): (() => Buffer) | undefined {
    const hasNode = !this.#isNodeSent || !this.#plan.sendsNodeOnce;
    const request = state.nextRequest(hasNode ? this.#node : undefined);
    if (request) this.#isNodeSent = true;
    return request;
  }
}
