// What one stream knows of one type of resources: who asks for which, what has come, what is to be
// told to the control plane.
import { urlOf, type DiscoveryApi } from './api.js';
import type { DiscoveryResponse } from './discovery-wire.js';
import { Slices } from './slices.js';
import { TimesToLive } from './times-to-live.js';
import type { KnownResource, Watcher } from './watcher.js';

/** Of the response's resources, by their places in it; undefined: it is a heartbeat's. */
type NamesOf = (index: number) => string | undefined;

/** Of resources as they were decoded, which leaves out heartbeats. */
export function namesIn(
  { resources: raw }: DiscoveryResponse,
  decoded: readonly KnownResource[],
): NamesOf {
  let next = 0;
  const names = raw.map(({ isHeartbeat }) => (isHeartbeat ? undefined : decoded[next++]?.name));
  return (index) => names[index];
}

export abstract class TypeState {
  readonly api: DiscoveryApi;
  readonly url: string;
  readonly watchers = new Set<Watcher>();
  /** What has come, by name: who asks for the same later has it at once. */
  readonly known = new Map<string, KnownResource>();
  readonly #times = new TimesToLive((names) => this.expire(new Set(names)));
  /** Of the latest update that was taken. */
  protected version = '';
  /** How many streams there have been: what came on one is not answered on another. */
  protected streams = 0;

  constructor(api: DiscoveryApi) {
    this.api = api;
    this.url = urlOf(api);
  }

  add(watcher: Watcher): void {
    this.watchers.add(watcher);
    if (watcher.names.length === 0) return;
    const found = watcher.names.flatMap((name) => this.known.get(name) ?? []);
    if (found.length > 0) watcher.onUpdate(found, this.version);
  }

  /** Asks for it beside what watchers ask for; where that is not to be had it does nothing. */
  ask(_name: string): void {}

  /** Nothing was sent on the new stream. */
  opened(): void {
    this.streams++;
  }

  /** Tells watchers; what they refuse is told to the control plane. */
  abstract take(response: DiscoveryResponse, resources: readonly KnownResource[]): Promise<void>;

  /** How long resources of an update that was taken stay. */
  protected keepTime({ resources: raw, removed }: DiscoveryResponse, nameOf: NamesOf): void {
    for (const name of removed) this.#times.forget(name);
    raw.forEach((one, index) => this.#times.take(one, one.name || (nameOf(index) ?? '')));
  }

  /** The time of these is over. */
  protected abstract expire(names: ReadonlySet<string>): void;

  protected tellAbsent(names: ReadonlySet<string>): void {
    for (const watcher of [...this.watchers]) {
      if (watcher.names.some((name) => names.has(name))) watcher.onAbsent();
    }
  }

  /** The stream is not needed any more. */
  stop(): void {
    this.#times.stop();
  }

  refuse(response: DiscoveryResponse, why: string): void {
    for (const watcher of [...this.watchers]) watcher.onRefused(why);
    this.answer(response, why);
  }

  /** The next request; undefined: there is nothing to say. */
  abstract nextRequest(node: Uint8Array | undefined): Buffer | undefined;

  /** The response of that nonce was taken, or why not. */
  protected abstract answer(response: DiscoveryResponse, error: string | undefined): void;

  /** Somebody asks for all. */
  protected get isWildcard(): boolean {
    return [...this.watchers].some(({ names }) => names.length === 0);
  }

  /** Of all watchers; none where one of them asks for all. */
  protected names(): ReadonlySet<string> {
    if (this.isWildcard) return new Set();
    return new Set([...this.watchers].flatMap(({ names }) => names));
  }

  /** What nobody asks for is not kept. */
  protected forgetOthers(wanted: ReadonlySet<string>): void {
    for (const name of this.known.keys()) if (!wanted.has(name)) this.known.delete(name);
  }

  /** Watchers of names are told of those that came, in slices. What they refuse. */
  protected async tellNamed(
    resources: readonly KnownResource[],
    version: string,
  ): Promise<readonly string[]> {
    const byName = new Map(resources.map((resource) => [resource.name, resource]));
    const slices = new Slices();
    const errors: string[] = [];
    for (const watcher of [...this.watchers]) {
      const found = watcher.names.flatMap((name) => byName.get(name) ?? []);
      // It may have left meanwhile.
      if (found.length === 0 || !this.watchers.has(watcher)) continue;
      const wrong = watcher.onUpdate(found, version);
      if (wrong !== undefined) errors.push(wrong);
      const pause = slices.pause();
      if (pause) await pause;
    }
    return errors;
  }

  /** Watchers of all are told of all. What they refuse. */
  protected tellAll(resources: readonly KnownResource[], version: string): string[] {
    return [...this.watchers].flatMap((watcher) =>
      watcher.names.length === 0 ? (watcher.onUpdate(resources, version) ?? []) : [],
    );
  }
}
