// Secrets that come by SDS, and the transport sockets that are made again when one comes, or when a
// file that it names is replaced.
import { monotonicMs } from '../base/clock.js';
import { startImmediate, startTimeout } from '../base/timers.js';
import type { NativeProxy } from '../native.js';
import type { LiveSources, SecretSource } from '../plan/live-sources.js';
import { readTextSource } from '../plan/message/data-source.js';
import { Place } from '../plan/message/place.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import type { SecretLookup, SecretRequest } from '../plan/secret-request.js';
import type { TlsFiles, TlsSocketPlan } from '../plan/tls-socket.js';
import { withContents } from './secret-files.js';
import { SecretSubscription, type DynamicSecret, type Offered } from './secret-subscription.js';
import type { Subscribing } from './subscription.js';

/** A socket as it is in use. */
interface Socket {
  readonly plan: TlsSocketPlan;
  files: TlsFiles;
}

const keyOf = ({ kind, name, source }: SecretRequest): string =>
  JSON.stringify([kind, name, source]);

const needs = ({ recipe }: TlsSocketPlan, key: string): boolean =>
  recipe?.requests.some((request) => keyOf(request) === key) === true;

/** From a plan to the data plane: a listener may wait for what it needs. */
const LONGEST_WAY_MS = 600_000;
const TELL_AGAIN_MS = 200;

export class Secrets {
  readonly #native: NativeProxy;
  readonly #host: Subscribing;
  readonly #sockets = new Map<TlsSocketPlan, Socket>();
  readonly #subscriptions = new Map<string, SecretSubscription>();
  /** Keys of those that are shown already, and asked for once their sockets or listeners are there. */
  readonly #announced = new Set<string>();
  /** Sockets that will be added. */
  readonly #expected = new Set<TlsSocketPlan>();
  /** Of filters, formats and the control plane itself, by their numbers. */
  readonly #texts = new Map<number, SecretSource>();
  /** Until when what the data plane does not know yet, as a listener that is on its way, is told of again. */
  readonly #untaken = new Map<number, number>();
  #again: NodeJS.Timeout | undefined;
  readonly #live: LiveSources;
  #isStarted = false;

  constructor(native: NativeProxy, host: Subscribing, live: LiveSources) {
    this.#native = native;
    this.#host = host;
    this.#live = live;
    live.secretText = (request) => this.#textOf(this.#subscriptions.get(keyOf(request))?.offered);
    live.onRelease((id) => this.#release(id));
    live.follow((id, source) => {
      if (source.kind !== 'secret') return;
      this.#texts.set(id, source);
      if (source.use !== 'own') this.#untaken.set(id, monotonicMs() + LONGEST_WAY_MS);
      if (live.isOfListeners(id)) this.#announce(source.request);
      else this.#subscribe(source.request);
      // What filters have that are no longer is forgotten once they are asked again.
      const key = keyOf(source.request);
      startImmediate(() => this.#tell(this.#subscriptions.get(key)?.offered, key));
    });
  }

  /** Of all sockets, with what their secrets say now: none of those whose secrets have not come. */
  get files(): TlsFiles[] {
    const all = [...this.#sockets.values()];
    const made = all.filter(({ plan, files }) => !plan.recipe || files !== plan.files);
    return made.map(({ files }) => files);
  }

  get current(): DynamicSecret[] {
    return [...this.#subscriptions.values()].map(({ current }) => current);
  }

  /** It will be added: its secrets are known of from here on. */
  announce(plan: TlsSocketPlan): void {
    this.#expected.add(plan);
    for (const request of plan.recipe?.requests ?? []) this.#announce(request);
  }

  #announce(request: SecretRequest): void {
    const key = keyOf(request);
    if (this.#subscriptions.has(key)) return;
    this.#announced.add(key);
    this.#make(request, key);
  }

  /** The data plane has it. */
  add(plan: TlsSocketPlan): void {
    this.#expected.delete(plan);
    this.#sockets.set(plan, { plan, files: plan.files });
    const requests = plan.recipe?.requests ?? [];
    const isKnown = requests.map(keyOf).some((key) => this.#isAskedFor(key));
    for (const request of requests) this.#subscribe(request);
    // What others have asked for is there already.
    if (isKnown) this.refill(plan);
  }

  /** The data plane has what was added before. */
  refill(plan: TlsSocketPlan): void {
    const requests = plan.recipe?.requests ?? [];
    const hasCome = requests.some((request) => this.#subscriptions.get(keyOf(request))?.offered);
    if (hasCome && this.#isStarted) this.#apply(this.#remake([plan], undefined));
  }

  /** Whether it needs what has not come yet, and is waited for once it is added. */
  lacks({ recipe }: TlsSocketPlan): boolean {
    const requests = recipe?.requests ?? [];
    return requests.some((one) => this.#subscriptions.get(keyOf(one))?.isFirstDone !== true);
  }

  /** Undefined: all that it needs has come, or is not waited for any longer. */
  needed({ recipe }: TlsSocketPlan): Promise<unknown> | undefined {
    return this.awaited(recipe?.requests ?? []);
  }

  /** Likewise, of those of them that are asked for. */
  awaited(requests: readonly SecretRequest[]): Promise<unknown> | undefined {
    const some = requests.flatMap((request) => {
      const one = this.#subscriptions.get(keyOf(request));
      return one && !one.isFirstDone ? one.first : [];
    });
    return some.length > 0 ? Promise.all(some) : undefined;
  }

  remove(plan: TlsSocketPlan): void {
    this.#sockets.delete(plan);
    for (const key of [...this.#subscriptions.keys()]) this.#endUnwanted(key);
  }

  #release(id: number): void {
    const source = this.#texts.get(id);
    this.#texts.delete(id);
    this.#untaken.delete(id);
    if (source) this.#endUnwanted(keyOf(source.request));
  }

  #endUnwanted(key: string): void {
    if (this.#dependents(key).length > 0 || this.#textsOf(key).length > 0) return;
    if ([...this.#expected].some((plan) => needs(plan, key))) return;
    this.#announced.delete(key);
    this.#subscriptions.get(key)?.end();
    this.#subscriptions.delete(key);
  }

  /** What files say already is in use when this returns. */
  start(): void {
    this.#isStarted = true;
    for (const [key, one] of this.#subscriptions) if (this.#isAskedFor(key)) one.start();
  }

  /** Clusters are there: as the real server, those that filters of listeners have are asked for now. */
  startOfListeners(): void {
    for (const [id, { request }] of this.#texts) {
      if (this.#live.isOfListeners(id)) this.#subscribe(request);
    }
  }

  stop(): void {
    clearTimeout(this.#again);
    for (const one of this.#subscriptions.values()) one.stop();
  }

  #subscribe(request: SecretRequest): void {
    const key = keyOf(request);
    const known = this.#subscriptions.get(key);
    if (known && !this.#announced.delete(key)) return;
    const one = known ?? this.#make(request, key);
    if (this.#isStarted) one.start();
  }

  #make(request: SecretRequest, key: string): SecretSubscription {
    const one = new SecretSubscription(request, this.#native, this.#host, (offered) => {
      const made = this.#remake(this.#dependents(key), { key, offered });
      if (!made || (offered && !isReadable(offered, request))) return undefined;
      return () => {
        const wrong = this.#apply(made);
        if (wrong === undefined) this.#tell(offered, key);
        return wrong;
      };
    });
    this.#subscriptions.set(key, one);
    return one;
  }

  #isAskedFor(key: string): boolean {
    return this.#subscriptions.has(key) && !this.#announced.has(key);
  }

  #textsOf(key: string): number[] {
    return [...this.#texts].flatMap(([id, { request }]) => (keyOf(request) === key ? id : []));
  }

  #textOf(offered: Offered): string | undefined {
    if (!offered) return undefined;
    const { generic_secret: secret } = withContents(offered.secret);
    return readTextSource(secret?.secret, Place.root([]));
  }

  /** Filters and formats have it; those that are no longer are forgotten. */
  #tell(offered: Offered, key: string): void {
    const value = this.#textOf(offered);
    if (value === undefined) return;
    for (const id of this.#textsOf(key)) {
      const use = this.#texts.get(id)?.use;
      if (use === 'own') continue;
      const isText = use === 'text';
      const text = { name: this.#live.nameOfSecret(id), value: Buffer.from(value) };
      const update = isText ? { live_texts: [text] } : { secrets: [{ id, value }] };
      if (this.#native.apply(encodeUpdate(update)).length === 0) {
        this.#untaken.delete(id);
        continue;
      }
      if ((this.#untaken.get(id) ?? 0) > monotonicMs()) {
        this.#tellAgain();
        continue;
      }
      this.#untaken.delete(id);
      this.#texts.delete(id);
      this.#live.delete(id);
    }
  }

  /** Listeners have come to the data plane: what came for their filters while they waited is theirs. */
  tellUntaken(): void {
    const requests = [...this.#untaken.keys()].flatMap((id) => this.#texts.get(id)?.request ?? []);
    for (const key of new Set(requests.map(keyOf))) {
      this.#tell(this.#subscriptions.get(key)?.offered, key);
    }
  }

  /** What it is told by then may be later than what the listener came with. */
  #tellAgain(): void {
    this.#again ??= startTimeout(() => {
      this.#again = undefined;
      this.tellUntaken();
    }, TELL_AGAIN_MS).unref();
  }

  #dependents(key: string): TlsSocketPlan[] {
    return [...this.#sockets.keys()].filter((plan) => needs(plan, key));
  }

  /** Undefined: one of them is wrong, as the place of the secret says. */
  #remake(
    plans: readonly TlsSocketPlan[],
    news: { readonly key: string; readonly offered: Offered } | undefined,
  ): Map<TlsSocketPlan, TlsSocketPlan> | undefined {
    const lookup: SecretLookup = (request) => {
      const key = keyOf(request);
      const offered = key === news?.key ? news.offered : this.#subscriptions.get(key)?.offered;
      return offered && { ...offered, secret: withContents(offered.secret) };
    };
    const made = new Map<TlsSocketPlan, TlsSocketPlan>();
    for (const plan of plans) {
      const place = news?.offered?.place ?? Place.root([]);
      const again = plan.recipe?.make(lookup, place);
      if (!again) return undefined;
      made.set(plan, again);
    }
    return made;
  }

  /** What the data plane refuses. */
  #apply(made: Map<TlsSocketPlan, TlsSocketPlan> | undefined): string | undefined {
    if (!made || made.size === 0) return undefined;
    const contexts = [...made.values()].map(({ context }) => context);
    const errors = this.#native.apply(encodeUpdate({ tls_contexts: contexts }));
    if (errors.length > 0) return errors.map(({ message }) => message).join('\n');
    for (const [plan, { files, context, use }] of made) {
      if (!context.is_incomplete) use?.();
      const socket = this.#sockets.get(plan);
      if (socket && !context.is_incomplete) socket.files = files;
    }
    return undefined;
  }
}

/** What is wrong with a text goes to its place. */
function isReadable({ secret, place }: NonNullable<Offered>, { kind }: SecretRequest): boolean {
  if (kind !== 'generic_secret') return true;
  const text = withContents(secret).generic_secret?.secret;
  return readTextSource(text, place.field(kind).field('secret')) !== undefined;
}
