// Secrets that come by SDS, and the transport sockets that are made again when one comes, or when a
// file that it names is replaced.
import type {
  envoy_config_core_v3_DataSource as DataSource,
  envoy_config_core_v3_WatchedDirectory as WatchedDirectory,
  envoy_extensions_transport_sockets_tls_v3_Secret as Secret,
} from '../../build/messages.gen.js';
import { dirname } from 'node:path';
import { startImmediate } from '../base/timers.js';
import { formatIssue, type Issue } from '../config/issues/issue.js';
import { messageKey } from '../config/values/same-message.js';
import type { NativeProxy } from '../native.js';
import type { LiveSources } from '../plan/live-sources.js';
import { readTextSource } from '../plan/message/data-source.js';
import { Place } from '../plan/message/place.js';
import { encodeUpdate, type Secret as SecretPlan } from '../plan/plan.gen.js';
import type { SecretLookup, SecretRequest } from '../plan/secret-request.js';
import type { TlsFiles, TlsSocketPlan } from '../plan/tls-socket.js';
import { FileWatch } from './file-watch.js';
import { withContents } from './secret-files.js';
import { SDS } from './api.js';
import { Subscription, type Subscribing } from './subscription.js';
import type { Commit, Resource } from './updates.js';

export interface DynamicSecret {
  readonly name: string;
  readonly version: string;
  /** Undefined: it has not come yet. */
  readonly message: Secret | undefined;
  /** Milliseconds since 1970. */
  readonly updatedMs: number;
}

/** A socket as it is in use. */
interface Socket {
  readonly plan: TlsSocketPlan;
  files: TlsFiles;
}

type Offered = ReturnType<SecretLookup>;

const keyOf = ({ kind, name, source }: SecretRequest): string =>
  JSON.stringify([kind, name, source]);

export class Secrets {
  readonly #native: NativeProxy;
  readonly #host: Subscribing;
  readonly #sockets = new Map<TlsSocketPlan, Socket>();
  readonly #subscriptions = new Map<string, SecretSubscription>();
  /** Keys of those that are shown already, and asked for once their sockets are there. */
  readonly #announced = new Set<string>();
  /** Of filters, by their numbers. */
  readonly #texts = new Map<number, SecretRequest>();
  readonly #live: LiveSources;
  #isStarted = false;

  constructor(native: NativeProxy, host: Subscribing, live: LiveSources) {
    this.#native = native;
    this.#host = host;
    this.#live = live;
    live.secretText = (request) => this.#textOf(this.#subscriptions.get(keyOf(request))?.offered);
    live.follow((id, source) => {
      if (source.kind !== 'secret') return;
      if (!source.isOwn) this.#texts.set(id, source.request);
      this.#subscribe(source.request);
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
  announce({ recipe }: TlsSocketPlan): void {
    for (const request of recipe?.requests ?? []) {
      const key = keyOf(request);
      if (this.#subscriptions.has(key)) continue;
      this.#announced.add(key);
      this.#make(request, key);
    }
  }

  /** The data plane has it. */
  add(plan: TlsSocketPlan): void {
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

  /** Undefined: all that it needs has come, or is not waited for any longer. */
  needed({ recipe }: TlsSocketPlan): Promise<unknown> | undefined {
    const some = (recipe?.requests ?? []).flatMap((request) => {
      const one = this.#subscriptions.get(keyOf(request));
      return one && !one.isFirstDone ? one.first : [];
    });
    return some.length > 0 ? Promise.all(some) : undefined;
  }

  remove(plan: TlsSocketPlan): void {
    this.#sockets.delete(plan);
    for (const [key, subscription] of this.#subscriptions) {
      if (this.#announced.has(key)) continue;
      if (this.#dependents(key).length > 0 || this.#textsOf(key).length > 0) continue;
      subscription.end();
      this.#subscriptions.delete(key);
    }
  }

  /** What files say already is in use when this returns. */
  start(): void {
    this.#isStarted = true;
    for (const [key, one] of this.#subscriptions) if (this.#isAskedFor(key)) one.start();
  }

  stop(): void {
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
    return [...this.#texts].flatMap(([id, request]) => (keyOf(request) === key ? id : []));
  }

  #textOf(offered: Offered): string | undefined {
    if (!offered) return undefined;
    const { generic_secret: secret } = withContents(offered.secret);
    return readTextSource(secret?.secret, Place.root([]));
  }

  /** Filters have it; those that are no longer are forgotten. */
  #tell(offered: Offered, key: string): void {
    const value = this.#textOf(offered);
    if (value === undefined) return;
    for (const id of this.#textsOf(key)) {
      const secret: SecretPlan = { id, value };
      if (this.#native.apply(encodeUpdate({ secrets: [secret] })).length === 0) continue;
      this.#texts.delete(id);
      this.#live.delete(id);
    }
  }

  #dependents(key: string): TlsSocketPlan[] {
    return [...this.#sockets.keys()].filter(({ recipe }) =>
      recipe?.requests.some((request) => keyOf(request) === key),
    );
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

/** Makes all sockets that depend on a secret again; undefined: it is wrong. */
type Take = (offered: Offered) => (() => string | undefined) | undefined;

class SecretSubscription {
  readonly #request: SecretRequest;
  readonly #native: NativeProxy;
  readonly #host: Subscribing;
  readonly #take: Take;
  readonly #statPrefix: string;
  readonly #subscription: Subscription;
  #watches: FileWatch[] = [];
  /** In use. */
  #offered: Offered;
  /** The latest of its name, whether it is in use or not. */
  #latest: Secret | undefined;
  /** As files held it when they were last read. */
  #read: Secret | undefined;
  /** What they held when it was taken. */
  #contents: string | undefined;
  #version = 'uninitialized';
  #updatedMs = Date.now();
  #onFirst: () => void = () => undefined;
  /** Resolves when it has come, or is not waited for any longer. */
  readonly first = new Promise<void>((resolve) => {
    this.#onFirst = resolve;
  });

  constructor(request: SecretRequest, native: NativeProxy, host: Subscribing, take: Take) {
    this.#request = request;
    this.#native = native;
    this.#host = host;
    this.#take = take;
    this.#statPrefix = native.addSdsStats(request.name);
    this.#subscription = new Subscription(
      {
        source: request.source,
        statPrefix: this.#statPrefix,
        api: SDS,
        names: [request.name],
        target: `SdsApi ${request.name}`,
        judge: (resources, version) => this.#judge(resources, version),
      },
      host,
    );
  }

  get offered(): Offered {
    return this.#offered;
  }

  get isFirstDone(): boolean {
    return this.#subscription.isFirstDone;
  }

  get current(): DynamicSecret {
    const { name } = this.#request;
    const message = this.#read;
    return { name, version: this.#version, message, updatedMs: this.#updatedMs };
  }

  start(): void {
    this.#subscription.start(() => this.#onFirst());
  }

  stop(): void {
    this.#subscription.stop();
    this.#watchFiles(undefined);
    this.#onFirst();
  }

  /** Nobody wants it any more. */
  end(): void {
    this.stop();
    this.#native.removeStats(this.#statPrefix);
  }

  #judge(resources: readonly Resource[], version: string): string | Commit {
    const { kind, name } = this.#request;
    const [first] = resources;
    if (!first) return `Missing SDS resources for ${name} in onConfigUpdate()`;
    if (resources.length > 1) return `Unexpected SDS secrets length: ${resources.length}`;
    const sent = first.message as Secret;
    if (sent.name !== name) {
      return `Unexpected SDS secret (expecting ${name}): ${sent.name ?? ''}`;
    }
    // As the real server: another kind of secret is a validation context that says nothing.
    const saysNothing = kind === 'validation_context' && !sent.validation_context;
    const secret: Secret = saysNothing ? { name, validation_context: {} } : sent;
    // As the real server: what is the same is not looked at again, and what is refused is shown, but for
    // keys of tickets.
    if (this.#latest && messageKey(secret) === messageKey(this.#latest)) return () => undefined;
    const offered = { secret, place: first.place };
    const isKeys = kind === 'session_ticket_keys';
    const keys = isKeys && secret[kind] ? this.#take(offered) : undefined;
    if (isKeys && !keys) return this.#lacks(secret);
    this.#latest = secret;
    this.#version = version;
    this.#updatedMs = Date.now();
    this.#watchFiles(secret);
    const read = withContents(secret);
    const isWhole = filesOf(read).paths.length === 0;
    this.#contents = isWhole ? messageKey(read) : undefined;
    // As the real server: one whose files are not there has not come.
    if (isWhole) this.#show(read);
    else this.#read = undefined;
    const commit = keys ?? (secret[kind] && this.#take(offered));
    if (!commit) return this.#lacks(secret);
    return () => {
      const wrong = commit();
      if (wrong === undefined) this.#offered = offered;
      return wrong;
    };
  }

  /** It is refused: for that, or as its place says. */
  #lacks(secret: Secret): string | Commit {
    const { kind, name } = this.#request;
    if (secret[kind]) return () => undefined;
    return `the secret ${name} has no ${kind}, which is expected`;
  }

  #show(read: Secret): void {
    const { kind, name } = this.#request;
    const isRead = kind === 'tls_certificate' || kind === 'validation_context';
    const value = isRead ? read[kind] : this.#latest?.[kind];
    const chain = kind === 'tls_certificate' && { certificate_chain: {} };
    this.#read = { name, [kind]: { ...chain, ...value } };
  }

  /**
   * As the real server: the folder that it has watched for its files, or those that they are in, where
   * a link on their way may be replaced.
   */
  #watchFiles(secret: Secret | undefined): void {
    for (const watch of this.#watches) watch.close();
    this.#watches = [];
    const { paths, folder } = filesOf(secret);
    // A folder for each file, as failures are counted.
    const folders = folder === undefined ? paths.map((path) => dirname(path)) : [folder];
    for (const path of folders) {
      const source = { path, watchedDirectory: path, watchesWrites: false };
      try {
        this.#watches.push(new FileWatch(source, () => this.#rotate()));
      } catch (error) {
        this.#host.log('warning', `cannot watch ${path}: ${(error as Error).message}`);
      }
    }
  }

  /** Something was moved there: the secret is the same, but perhaps not what its files hold. */
  #rotate(): void {
    const { name } = this.#request;
    const secret = this.#latest;
    if (!secret) return;
    const read = withContents(secret);
    const contents = messageKey(read);
    if (contents === this.#contents) return;
    if (filesOf(read).paths.length === 0) this.#show(read);
    const issues: Issue[] = [];
    const offered = { secret, place: Place.root(issues).field(name) };
    const commit = this.#take(offered);
    const errors = issues.filter(({ severity }) => severity === 'error').map(formatIssue);
    const wrong = errors.length > 0 || !commit ? errors.join('\n') : commit();
    if (wrong === undefined) {
      this.#offered = offered;
      this.#contents = contents;
      this.#host.log('info', `the files of secret ${name} are in use`);
      return;
    }
    this.#host.stats.count(`${this.#statPrefix}key_rotation_failed`);
    this.#host.log('warning', `Failed to reload the files of secret ${name}: ${wrong}`);
  }
}

function filesOf(secret: Secret | undefined): {
  readonly paths: readonly string[];
  readonly folder: string | undefined;
} {
  const certificate = secret?.tls_certificate;
  const validation = secret?.validation_context;
  const sources: readonly (DataSource | undefined)[] = [
    certificate?.certificate_chain,
    certificate?.private_key,
    certificate?.pkcs12,
    validation?.trusted_ca,
    validation?.crl,
    secret?.generic_secret?.secret,
    ...(secret?.session_ticket_keys?.keys ?? []),
  ];
  const watched: WatchedDirectory | undefined =
    certificate?.watched_directory ?? validation?.watched_directory;
  const paths = sources.flatMap((source) => source?.filename ?? []);
  return { paths: [...new Set(paths)], folder: watched?.path };
}
