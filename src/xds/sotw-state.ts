// State of the world: each response has all resources of its type, or all that have changed of those
// that are asked for by name.
import { unawaited } from '../base/bugs.js';
import { encodeSotw, type DiscoveryResponse } from './discovery-wire.js';
import { NO_VERSION, TypeState, namesIn, type Refusal } from './type-state.js';
import type { KnownResource } from './watcher.js';

export class SotwState extends TypeState {
  #nonce = '';
  /** On any stream. */
  #wasAsked = false;
  /** To be told with the next request; undefined: it was told. */
  #answer: { readonly error: string | undefined } | undefined;
  /** Of the latest refusal, until a request leaves. */
  #error: string | undefined;
  /** What watchers of all were told, where resources have times to live. */
  #latest: readonly KnownResource[] = [];
  /** As they were sent on this stream: the names, and whether nobody asks at all. */
  #sent: { readonly names: ReadonlySet<string>; readonly isEmpty: boolean } | undefined;

  override opened(hasBegun = false): void {
    super.opened();
    if (hasBegun) return;
    this.#nonce = '';
    this.#answer = undefined;
    this.#error = undefined;
    this.#sent = undefined;
  }

  protected override async takeNow(
    response: DiscoveryResponse,
    resources: readonly KnownResource[],
  ): Promise<void> {
    const { version } = response;
    if (this.watchers.size === 0) {
      this.#takeUnasked(response);
      return;
    }
    const { streams } = this;
    const beats = response.resources.filter(({ isHeartbeat }) => isHeartbeat);
    const isAllBeats = beats.length > 0 && resources.length === 0;
    const living = new Set(beats.map(({ name }) => name));
    const all = [...resources, ...this.#latest.filter(({ name }) => living.has(name))];
    const told = isAllBeats ? [] : await this.#tellAll(all, version);
    const refusals = told.length > 0 ? told : await this.tellNamed(resources, version);
    if (streams !== this.streams) return;
    if (refusals.length > 0) {
      this.refuseRest(response, refusals);
      return;
    }
    const names = this.names();
    // Of several of one name the first counts.
    for (const resource of resources.toReversed()) {
      if (names.has(resource.name)) this.known.set(resource.name, resource);
    }
    if (!isAllBeats) this.#latest = this.#keepsLatest(response) ? all : [];
    this.keepTime(response, namesIn(response, resources));
    this.version = version;
    this.answer(response, undefined);
  }

  /** Nobody asks any more: as the real server, nothing is taken, and that there is nothing needs no answer. */
  #takeUnasked(response: DiscoveryResponse): void {
    if (response.resources.length > 0) {
      this.answer(response, undefined);
      return;
    }
    this.version = response.version;
    this.#nonce = response.nonce;
  }

  /** Only where some of them may go by themselves. */
  #keepsLatest({ resources }: DiscoveryResponse): boolean {
    return resources.some(({ ttlMs }) => ttlMs !== undefined);
  }

  protected override expire(names: ReadonlySet<string>): void {
    for (const name of names) this.known.delete(name);
    this.#latest = this.#latest.filter(({ name }) => !names.has(name));
    unawaited('resources that are over', this.#tellAll(this.#latest, NO_VERSION));
    this.tellAbsent(names, NO_VERSION);
  }

  #tellAll(resources: readonly KnownResource[], version: string): Promise<readonly Refusal[]> {
    return this.tellAll({ version, resources, names: [] });
  }

  override nextRequest(node: Uint8Array | undefined): (() => Buffer) | undefined {
    const names = this.names();
    const isEmpty = this.watchers.size === 0;
    // As the real server: once somebody has asked, each stream hears of the type.
    if (isEmpty && !this.#wasAsked) return undefined;
    const isSame = this.#isSent(names, isEmpty);
    if (!isSame) this.forgetOthers(names);
    if (isSame && !this.#answer) return undefined;
    this.#wasAsked = true;
    this.#sent = { names, isEmpty };
    this.#error = this.#answer?.error ?? this.#error;
    this.#answer = undefined;
    // As the real server: one that has had to wait tells what is so by then, and of a refusal that has come
    // meanwhile with its nonce; its own request tells of it again.
    return () => {
      const error = this.#answer?.error ?? this.#error;
      this.#error = undefined;
      return encodeSotw({
        ...{ node, url: this.url, version: this.version, nonce: this.#nonce, error },
        names: [...this.names()],
      });
    };
  }

  #isSent(names: ReadonlySet<string>, isEmpty: boolean): boolean {
    const sent = this.#sent;
    if (sent?.isEmpty !== isEmpty) return false;
    if (sent.names === names) return true;
    const before = [...sent.names];
    return before.length === names.size && [...names].every((name, i) => name === before[i]);
  }

  protected override answer({ nonce }: DiscoveryResponse, error: string | undefined): void {
    this.#nonce = nonce;
    this.#answer = { error };
  }
}
