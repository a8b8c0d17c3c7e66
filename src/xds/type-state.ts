// What one stream knows of one type of resources: who asks for which, what has come, what is to be
// told to the control plane.
import { after } from '../base/after.js';
import { unawaited } from '../base/bugs.js';
import { urlOf, type DiscoveryApi } from './api.js';
import { canonicalName, collectionOf } from '../plan/resource-name.js';
import type { DiscoveryResponse } from './discovery-wire.js';
import { Slices } from './slices.js';
import { TimesToLive } from './times-to-live.js';
import type { KnownResource, Watcher } from './watcher.js';

/** As the real server: of an update that is only that some resources' time is over. */
export const NO_VERSION = '';

/** Of the response's resources, by their places in it; undefined: it is a heartbeat's. */
type NamesOf = (index: number) => string | undefined;

/** Of resources as they were decoded, which leaves out heartbeats. */
export function namesIn(
  { resources: raw }: DiscoveryResponse,
  decoded: readonly KnownResource[],
): NamesOf {
  let names: readonly (string | undefined)[] | undefined;
  return (index) => {
    let next = 0;
    names ??= raw.map(({ isHeartbeat }) => (isHeartbeat ? undefined : decoded[next++]?.name));
    return names[index];
  };
}

/** Whether `wanted` has it, or a collection that it is in. */
export const isIn = (wanted: ReadonlySet<string>, name: string): boolean =>
  wanted.has(canonicalName(name)) || wanted.has(collectionOf(name) ?? '');

/** Of an update. */
export interface Refusal {
  readonly watcher: Watcher;
  readonly why: string;
}

/** Of all resources of a type. */
export interface Update {
  readonly version: string;
  readonly resources: readonly KnownResource[];
  /** As Watcher's. */
  readonly removed?: readonly string[];
  /** Of all that it says something of. */
  readonly names: readonly string[];
}

const refusalOf = (watcher: Watcher, why: string | undefined): readonly Refusal[] =>
  why === undefined ? [] : [{ watcher, why }];

const isOfNames = ({ names, isCollection }: Watcher): boolean => names.length > 0 && !isCollection;

/** Watchers by what they ask for beside single names: few, however many names are watched. */
interface Kinds {
  readonly ofAll: readonly Watcher[];
  readonly ofCollections: readonly Watcher[];
  /** They are told what has been answered. */
  readonly ofAnswers: readonly Watcher[];
}

export abstract class TypeState {
  readonly api: DiscoveryApi;
  readonly url: string;
  readonly #watchers = new Set<Watcher>();
  /** Who asks for a name; undefined: it has to be found out anew. */
  #byName: ReadonlyMap<string, readonly Watcher[]> | undefined;
  /** As `names` answers; undefined: it has to be found out anew. */
  #names: ReadonlySet<string> | undefined;
  /** Undefined: they have to be found out anew. */
  #kinds: Kinds | undefined;
  /** Who has asked since a response began to be taken, which may take a while; undefined: none is. */
  #late: Set<Watcher> | undefined;
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

  get watchers(): ReadonlySet<Watcher> {
    return this.#watchers;
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    this.#late?.add(watcher);
    this.onNames();
    if (!isOfNames(watcher)) {
      // Otherwise with what comes of the response.
      if (!this.#late) this.#tellWhole(watcher);
      return;
    }
    this.#tellKnown(watcher, () => true);
  }

  #tellKnown(watcher: Watcher, isNews: (resource: KnownResource) => boolean): void {
    const found = watcher.names.flatMap((name) => this.known.get(name) ?? []).filter(isNews);
    if (found.length > 0) this.#tellFound(watcher, found);
  }

  #tellWhole(watcher: Watcher): void {
    const whole = this.wholeOf(watcher);
    if (whole) this.#tellFound(watcher, whole);
  }

  /** For a watcher that does not ask for single names: all that there is; undefined: that is to come. */
  protected wholeOf(_watcher: Watcher): readonly KnownResource[] | undefined {
    return undefined;
  }

  #tellFound(watcher: Watcher, found: readonly KnownResource[]): void {
    unawaited(
      'resources that are there',
      after(watcher.onUpdate(found, this.version), () => {}),
    );
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    this.onNames();
  }

  /** Watchers ask for other names. */
  onNames(): void {
    this.#byName = undefined;
    this.#names = undefined;
    this.#kinds = undefined;
  }

  /** Asks for it beside what watchers ask for; where that is not to be had it does nothing. */
  ask(_name: string, _isOnce = false): void {}

  /** What was asked for so, and begins like that, is not asked for any more. */
  forgetAsked(_prefix: string): void {}

  /** What somebody has asked for of it; all else is not even looked at. */
  wantedOf(response: DiscoveryResponse): DiscoveryResponse {
    return response;
  }

  /** Answers that are to be told yet, where the real server counts them. */
  get waitingAnswers(): number {
    return 0;
  }

  /** Nothing was sent on the new stream; `hasBegun`: but what was made before it was there. */
  opened(_hasBegun = false): void {
    this.streams++;
  }

  /** Tells watchers; what they refuse is told to the control plane. */
  async take(response: DiscoveryResponse, resources: readonly KnownResource[]): Promise<void> {
    const late = new Set<Watcher>();
    this.#late = late;
    try {
      await this.takeNow(response, resources);
    } finally {
      this.#late = undefined;
    }
    if (late.size === 0) return;
    const news = new Set(resources);
    for (const watcher of late) {
      if (!this.watchers.has(watcher)) continue;
      if (isOfNames(watcher)) this.#tellKnown(watcher, (one) => news.has(one));
      else this.#tellWhole(watcher);
    }
  }

  /** It does not ask for single names, and is told all behind the response that is being taken. */
  protected isLate(watcher: Watcher): boolean {
    return (this.#late?.has(watcher) ?? false) && !isOfNames(watcher);
  }

  /** As take(), for those that ask as it begins. */
  protected abstract takeNow(
    response: DiscoveryResponse,
    resources: readonly KnownResource[],
  ): Promise<void>;

  /** How long resources of an update that was taken stay. */
  protected keepTime({ resources: raw, removed }: DiscoveryResponse, nameOf: NamesOf): void {
    if (this.#times.isEmpty && raw.every(({ ttlMs }) => ttlMs === undefined)) return;
    for (const name of removed) this.#times.forget(name);
    raw.forEach((one, index) => this.#times.take(one, one.name || (nameOf(index) ?? '')));
  }

  /** The time of these is over. */
  protected abstract expire(names: ReadonlySet<string>): void;

  protected tellAbsent(names: ReadonlySet<string>, version: string): void {
    const found = new Set([...names].flatMap((name) => this.#watchersOf(name)));
    for (const watcher of found) watcher.onAbsent(version);
  }

  /** The stream is not needed any more. */
  stop(): void {
    this.#times.stop();
  }

  refuse(response: DiscoveryResponse, why: string): void {
    for (const watcher of [...this.watchers]) watcher.onRefused(why);
    this.answer(response, why);
  }

  /** What watchers have refused counts as refused for all of them, as in the real server. */
  protected refuseRest(response: DiscoveryResponse, refusals: readonly Refusal[]): void {
    const why = refusals.map((refusal) => refusal.why).join('\n');
    const refusing = new Set(refusals.map(({ watcher }) => watcher));
    for (const watcher of [...this.watchers]) {
      if (!refusing.has(watcher)) watcher.onRefused(why);
    }
    this.answer(response, why);
  }

  /** Encodes the next request, when it leaves; undefined: there is nothing to say. */
  abstract nextRequest(node: Uint8Array | undefined): (() => Buffer) | undefined;

  /** The response of that nonce was taken, or why not. */
  protected abstract answer(response: DiscoveryResponse, error: string | undefined): void;

  /** Somebody asks for all. */
  protected get isWildcard(): boolean {
    return this.kinds.ofAll.length > 0;
  }

  protected get kinds(): Kinds {
    if (!this.#kinds) {
      const all = [...this.watchers];
      this.#kinds = {
        ofAll: all.filter(({ names }) => names.length === 0),
        ofCollections: all.filter(({ isCollection }) => isCollection),
        ofAnswers: all.filter(({ onAnswered }) => onAnswered),
      };
    }
    return this.#kinds;
  }

  /**
   * Of all watchers, beside those that ask for all; as in the real server, what was asked for last comes
   * first. The same object, while it is the same.
   */
  protected names(): ReadonlySet<string> {
    this.#names ??= new Set([...this.watchers].flatMap(({ names }) => names).reverse());
    return this.#names;
  }

  #watchersOf(name: string): readonly Watcher[] {
    if (!this.#byName) {
      const byName = new Map<string, Watcher[]>();
      for (const watcher of this.watchers) {
        for (const one of watcher.names) {
          const known = byName.get(one);
          if (known) known.push(watcher);
          else byName.set(one, [watcher]);
        }
      }
      this.#byName = byName;
    }
    return this.#byName.get(canonicalName(name)) ?? [];
  }

  /** What nobody asks for is not kept. */
  protected forgetOthers(wanted: ReadonlySet<string>): void {
    for (const name of this.known.keys()) {
      if (!isIn(wanted, name)) this.known.delete(name);
    }
  }

  /** There may be ten thousand watchers, of which most responses name one. */
  #lastFirst<T>(found: ReadonlyMap<Watcher, T>): readonly (readonly [Watcher, T])[] {
    if (found.size < 2) return [...found];
    return [...this.watchers].toReversed().flatMap((watcher) => {
      const own = found.get(watcher);
      return own === undefined ? [] : [[watcher, own] as const];
    });
  }

  /**
   * Watchers of names are told of those that came, in slices. What they refuse: as in the real server, others that
   * would have been told after the first that does are told nothing.
   */
  protected async tellNamed(
    resources: readonly KnownResource[],
    version: string,
  ): Promise<readonly Refusal[]> {
    const found = new Map<Watcher, KnownResource[]>();
    // As in the real server: of several of one name the first counts.
    const names = new Set<string>();
    for (const resource of resources) {
      if (names.has(resource.name)) continue;
      names.add(resource.name);
      for (const watcher of this.#watchersOf(resource.name)) {
        const known = found.get(watcher);
        if (known) known.push(resource);
        else found.set(watcher, [resource]);
      }
    }
    const slices = new Slices();
    const answers: Promise<readonly Refusal[]>[] = [];
    // As in the real server: who asked last is told first. None waits for another: what they give the
    // data plane goes together.
    for (const [watcher, own] of this.#lastFirst(found)) {
      // It may have left meanwhile.
      if (!this.watchers.has(watcher)) continue;
      const answer = watcher.onUpdate(own, version);
      if (answer instanceof Promise) {
        const refusals = answer.then((why) => refusalOf(watcher, why));
        // What it throws is thrown below.
        refusals.catch(() => undefined);
        answers.push(refusals);
      } else if (answer !== undefined) {
        answers.push(Promise.resolve(refusalOf(watcher, answer)));
        break;
      }
      const pause = slices.pause();
      if (pause) await pause;
    }
    return (await Promise.all(answers)).flat();
  }

  /** Watchers of all are told, until one refuses it: why it does. */
  protected async tellAll(update: Update): Promise<readonly Refusal[]> {
    const { resources, version, removed, names } = update;
    for (const watcher of this.kinds.ofAll) {
      if (this.isLate(watcher)) continue;
      const { prefix } = watcher;
      if (prefix !== undefined && !names.some((name) => name.startsWith(prefix))) continue;
      const why = await watcher.onUpdate(resources, version, removed);
      if (why !== undefined) return refusalOf(watcher, why);
    }
    return [];
  }

  /**
   * Watchers of collections are told of what is in theirs, where the update says something of it: as in the
   * real server, who waits for the first of a collection goes on waiting where there is none. What one refuses.
   */
  protected async tellCollections(update: Update): Promise<readonly Refusal[]> {
    const watchers = this.kinds.ofCollections;
    if (watchers.length === 0) return [];
    const { resources, version, removed, names } = update;
    const touched = new Set(names.map(collectionOf));
    for (const watcher of watchers) {
      if (this.isLate(watcher)) continue;
      const [collection = ''] = watcher.names;
      if (!touched.has(collection)) continue;
      const isOwn = (name: string): boolean => collectionOf(name) === collection;
      const own = resources.filter(({ name }) => isOwn(name));
      const why = await watcher.onUpdate(own, version, removed?.filter(isOwn));
      if (why !== undefined) return refusalOf(watcher, why);
    }
    return [];
  }
}
