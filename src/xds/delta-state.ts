// Incremental: each response has what is new, what has changed, and the names of what is gone.
import { encodeDelta, type DiscoveryResponse } from './discovery-wire.js';
import { TypeState } from './type-state.js';
import type { KnownResource } from './watcher.js';

const NONE: ReadonlySet<string> = new Set();

export class DeltaState extends TypeState {
  /** Names that this stream was told of. */
  #subscribed: ReadonlySet<string> = NONE;
  #isFirst = true;
  #answers: { readonly nonce: string; readonly error: string | undefined }[] = [];

  override opened(): void {
    super.opened();
    this.#subscribed = NONE;
    this.#isFirst = true;
    this.#answers = [];
  }

  override async take(
    response: DiscoveryResponse,
    resources: readonly KnownResource[],
  ): Promise<void> {
    const { version, removed } = response;
    const { streams } = this;
    const errors = this.isWildcard
      ? this.tellAll(this.#afterwards(resources, removed), version)
      : await this.tellNamed(resources, version);
    if (streams !== this.streams) return;
    if (errors.length > 0) {
      this.answer(response, errors.join('\n'));
      return;
    }
    for (const resource of resources) this.known.set(resource.name, resource);
    for (const name of removed) this.known.delete(name);
    const gone = new Set(removed);
    for (const watcher of [...this.watchers]) {
      if (watcher.names.some((name) => gone.has(name))) watcher.onAbsent();
    }
    this.version = version;
    this.answer(response, undefined);
  }

  override nextRequest(node: Uint8Array | undefined): Buffer | undefined {
    const names = this.names();
    if (!this.isWildcard) this.forgetOthers(names);
    const subscribe = [...names].filter((name) => !this.#subscribed.has(name));
    const unsubscribe = [...this.#subscribed].filter((name) => !names.has(name));
    const hasNews = subscribe.length > 0 || unsubscribe.length > 0;
    const isFirst = this.#isFirst && this.watchers.size > 0;
    const answer = this.#answers.shift();
    if (!hasNews && !isFirst && !answer) return undefined;
    this.#subscribed = names;
    this.#isFirst &&= !isFirst;
    return encodeDelta({
      ...{ node, url: this.url, subscribe, unsubscribe },
      versions: isFirst ? [...this.known].map(([name, { version }]) => [name, version]) : [],
      nonce: answer?.nonce ?? '',
      error: answer?.error,
    });
  }

  protected override answer({ nonce }: DiscoveryResponse, error: string | undefined): void {
    this.#answers.push({ nonce, error });
  }

  /** All that there will be. What has not changed stays the same object. */
  #afterwards(
    resources: readonly KnownResource[],
    removed: readonly string[],
  ): readonly KnownResource[] {
    const all = new Map(this.known);
    for (const name of removed) all.delete(name);
    for (const resource of resources) all.set(resource.name, resource);
    return [...all.values()];
  }
}
