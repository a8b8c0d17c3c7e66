// Incremental: each response has what is new, what has changed, and the names of what is gone.
import { unawaited } from '../base/bugs.js';
import { collectionOf } from '../plan/resource-name.js';
import { otherTypeInDelta } from './decode-resources.js';
import { encodeDelta, type DiscoveryResponse, type RawResource } from './discovery-wire.js';
import { Slices } from './slices.js';
import { NO_VERSION, TypeState, isIn, namesIn, type Refusal } from './type-state.js';
import type { KnownResource, Watcher } from './watcher.js';

const NONE: ReadonlySet<string> = new Set();
/** All that there is, where it is asked for by a name. */
const ALL = '*';
const nameOf = ({ name }: Pick<RawResource, 'name'>): string => name;

/** It says nothing, not even that there is nothing by another name. */
const isBeat = ({ isHeartbeat, aliases = [] }: RawResource): boolean =>
  isHeartbeat && aliases.length === 0;

/** What is wrong; undefined: each name is there once. */
function namedTwice({ resources, removed }: DiscoveryResponse): string | undefined {
  const names = new Set<string>();
  for (const { name } of resources) {
    if (names.has(name)) return `duplicate name ${name} found among added/updated resources`;
    names.add(name);
  }
  for (const name of removed) {
    if (names.has(name)) {
      return `duplicate name ${name} found in the union of added+removed resources`;
    }
    names.add(name);
  }
  return undefined;
}

export class DeltaState extends TypeState {
  /** Names that this stream was told of. */
  #subscribed: ReadonlySet<string> = NONE;
  #isFirst = true;
  /** On any stream. */
  #wasAsked = false;
  /** Versions of names of which it was said that there is nothing. */
  readonly #nothing = new Map<string, string>();
  /** Beside what watchers ask for, and those that are to be told of yet. */
  readonly #asked = new Set<string>();
  readonly #toAsk = new Set<string>();
  readonly #toLeave = new Set<string>();
  /** Collections, and ALL, of which something has come: what is known of them is all that there is. */
  readonly #answeredWhole = new Set<string>();
  /** They are known still, and nobody is told any more of what becomes of them. */
  readonly #left = new Set<string>();
  #answers: { readonly nonce: string; readonly error: string | undefined }[] = [];

  override ask(name: string, isOnce = false): void {
    if (isOnce && this.#asked.has(name)) return;
    this.#asked.add(name);
    this.#toAsk.add(name);
    this.#toLeave.delete(name);
  }

  override forgetAsked(prefix: string): void {
    const asked = [...this.#asked].filter((name) => name.startsWith(prefix));
    if (asked.length === 0) return;
    // By whichever name each was asked for.
    for (const name of this.known.keys()) if (name.startsWith(prefix)) this.#left.add(name);
    for (const name of asked) {
      this.#asked.delete(name);
      if (!this.#toAsk.delete(name)) this.#toLeave.add(name);
      this.#nothing.delete(name);
    }
  }

  override get waitingAnswers(): number {
    return this.#answers.length;
  }

  override wantedOf(response: DiscoveryResponse): DiscoveryResponse {
    if (this.isWildcard) return response;
    const names = this.names();
    const isWanted = (name: string): boolean => isIn(names, name) || this.#asked.has(name);
    const resources = response.resources.filter(
      ({ name, aliases = [] }) => isWanted(name) || aliases.some(isWanted),
    );
    return resources.length < response.resources.length ? { ...response, resources } : response;
  }

  override opened(hasBegun = false): void {
    super.opened();
    if (hasBegun) return;
    for (const name of this.#asked) this.#toAsk.add(name);
    this.#toLeave.clear();
    this.#subscribed = NONE;
    this.#isFirst = true;
    this.#answers = [];
  }

  protected override async takeNow(
    response: DiscoveryResponse,
    resources: readonly KnownResource[],
  ): Promise<void> {
    const { version, removed } = response;
    const { streams } = this;
    const slices = new Slices();
    const twice = namedTwice(response);
    if (twice !== undefined) {
      this.refuse(response, twice);
      return;
    }
    if (response.resources.some((resource) => this.#isEmpty(resource))) {
      this.refuse(response, otherTypeInDelta('', this.url));
      return;
    }
    const pause = slices.pause();
    if (pause) await pause;
    if (streams !== this.streams) return;
    const refusals = await this.#tell(response, resources);
    if (streams !== this.streams) return;
    if (refusals.length > 0) {
      this.refuseRest(response, refusals);
      return;
    }
    const names = this.names();
    const { ofAll } = this.kinds;
    for (const resource of resources) {
      // As the real server: who asks later for what came unasked waits until it comes again.
      if (ofAll.length > 0 || isIn(names, resource.name)) this.known.set(resource.name, resource);
    }
    for (const name of removed) this.known.delete(name);
    for (const name of [...resources.map(nameOf), ...removed]) this.#left.delete(name);
    this.#keepAnswered([...resources.map(nameOf), ...removed]);
    this.#keepNothing(response);
    this.tellAbsent(new Set(removed), version);
    this.keepTime(response, namesIn(response, resources));
    this.version = version;
    this.#tellAnswered(response);
    this.answer(response, undefined);
  }

  protected override wholeOf({ names, prefix }: Watcher): readonly KnownResource[] | undefined {
    const [collection] = names;
    if (!this.#answeredWhole.has(collection ?? ALL)) return undefined;
    const known = [...this.known.values()];
    if (collection !== undefined) {
      return known.filter(({ name }) => collectionOf(name) === collection);
    }
    if (prefix === undefined) return known;
    const own = known.filter(({ name }) => name.startsWith(prefix) && !this.#left.has(name));
    return own.length > 0 ? own : undefined;
  }

  #keepAnswered(said: readonly string[]): void {
    const { ofAll, ofCollections } = this.kinds;
    if (ofAll.length > 0) this.#answeredWhole.add(ALL);
    if (ofCollections.length === 0) return;
    for (const name of said) {
      const collection = collectionOf(name);
      if (collection !== undefined && this.#subscribed.has(collection)) {
        this.#answeredWhole.add(collection);
      }
    }
  }

  /** What is not asked for any more. */
  #forgetAnswered(names: ReadonlySet<string>): void {
    for (const one of this.#answeredWhole) {
      const isAsked = one === ALL ? this.isWildcard : names.has(one);
      if (!isAsked) this.#answeredWhole.delete(one);
    }
  }

  /** What is refused, by those that are told first. */
  async #tell(
    { version, removed, resources: raw }: DiscoveryResponse,
    resources: readonly KnownResource[],
  ): Promise<readonly Refusal[]> {
    const update = { version, resources, removed };
    const said = raw.filter((one) => !isBeat(one)).map(nameOf);
    const refused = await this.tellAll({ ...update, names: [...said, ...removed] });
    if (refused.length > 0) return refused;
    const named = await this.tellNamed(resources, version);
    if (named.length > 0) return named;
    return this.tellCollections({ ...update, names: [...resources.map(nameOf), ...removed] });
  }

  protected override expire(gone: ReadonlySet<string>): void {
    for (const name of gone) this.known.delete(name);
    const removed = [...gone];
    const update = { version: NO_VERSION, resources: [], removed, names: removed };
    unawaited('resources that are over', this.tellAll(update));
    unawaited('resources that are over', this.tellCollections(update));
    this.tellAbsent(gone, NO_VERSION);
  }

  /** It says nothing, and is neither the heartbeat of what is there nor an answer that there is none. */
  #isEmpty(resource: RawResource): boolean {
    return isBeat(resource) && this.known.get(resource.name)?.version !== resource.version;
  }

  #keepNothing({ resources, removed }: DiscoveryResponse): void {
    for (const name of removed) this.#nothing.delete(name);
    for (const { name, version, isHeartbeat, aliases = [] } of resources) {
      if (isHeartbeat && aliases.length > 0) this.#nothing.set(name, version);
      else this.#nothing.delete(name);
    }
  }

  #tellAnswered({ resources, removed }: DiscoveryResponse): void {
    const { ofAnswers } = this.kinds;
    if (ofAnswers.length === 0) return;
    const answered = resources.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    for (const watcher of ofAnswers) {
      // It has none of that yet.
      if (!this.isLate(watcher)) watcher.onAnswered?.([...answered, ...removed], removed);
    }
  }

  override nextRequest(node: Uint8Array | undefined): (() => Buffer) | undefined {
    const names = this.names();
    if (!this.isWildcard && names !== this.#subscribed) this.forgetOthers(names);
    if (names !== this.#subscribed) this.#forgetAnswered(names);
    const isFirst = this.#isFirst && this.watchers.size > 0;
    // What is asked for beside all that there is comes after it: the first request would ask for no more.
    // The next streams are told of both at once, as the real server does.
    const isForAll = isFirst && this.isWildcard;
    const isAlone = isForAll && (!this.#wasAsked || names.size + this.#toAsk.size === 0);
    const isSame = names === this.#subscribed || isAlone;
    const fresh = isSame ? [] : [...names].filter((name) => !this.#subscribed.has(name));
    const asked = isAlone ? [] : [...this.#toAsk];
    const also = isForAll && !isAlone ? [ALL] : [];
    const subscribe = [...new Set([...also, ...fresh, ...asked])].sort();
    for (const name of asked) this.#toAsk.delete(name);
    const gone = isSame ? [] : [...this.#subscribed].filter((name) => !names.has(name));
    const unsubscribe = [...gone, ...this.#toLeave].sort();
    this.#toLeave.clear();
    const hasNews = subscribe.length > 0 || unsubscribe.length > 0;
    const answer = this.#answers.shift();
    if (!hasNews && !isFirst && !answer) return undefined;
    if (!isAlone) this.#subscribed = names;
    this.#isFirst &&= !isFirst;
    this.#wasAsked = true;
    const bytes = encodeDelta({
      ...{ node, url: this.url, subscribe, unsubscribe },
      versions: isFirst ? this.#versions() : [],
      nonce: answer?.nonce ?? '',
      error: answer?.error,
    });
    return () => bytes;
  }

  #versions(): readonly (readonly [name: string, version: string])[] {
    const known = [...this.known].map(([name, { version }]) => [name, version] as const);
    return [...known, ...this.#nothing];
  }

  protected override answer({ nonce }: DiscoveryResponse, error: string | undefined): void {
    this.#answers.push({ nonce, error });
  }
}
