// One secret that comes by SDS: what it said last, what is in use, and the files that it names.
import type {
  envoy_config_core_v3_DataSource as DataSource,
  envoy_config_core_v3_WatchedDirectory as WatchedDirectory,
  envoy_extensions_transport_sockets_tls_v3_Secret as Secret,
} from '../../build/messages.gen.js';
import { dirname } from 'node:path';
import { formatIssue, type Issue } from '../config/issues/issue.js';
import { messageKey } from '../config/values/same-message.js';
import type { NativeProxy } from '../native.js';
import { Place } from '../plan/message/place.js';
import type { SecretLookup, SecretRequest } from '../plan/secret-request.js';
import { SDS } from './api.js';
import { FileWatch } from './file-watch.js';
import { withContents } from './secret-files.js';
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

/** What it says, and where; undefined: it has not come. */
export type Offered = ReturnType<SecretLookup>;

/** Makes all sockets that depend on a secret again; undefined: it is wrong. */
type Take = (offered: Offered) => (() => string | undefined) | undefined;

export class SecretSubscription {
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
    this.#version = first.version || version;
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
