// What filters are told while the server runs, each under a number: secrets that come by SDS, tokens
// and credentials that are fetched; and texts that formats tell of, each under a name.
import { randomUUID } from 'node:crypto';
import type { HttpSource } from './jwks-source.js';
import type { SecretRequest } from './secret-request.js';
import type { AwsChain } from './aws/chain.js';

/** One that is asked for as long as there is what needs it. */
export interface HeldSecret {
  /** By SDS; absent: it is fetched. */
  readonly request?: SecretRequest;
  release(): void;
}

export interface SecretSource {
  readonly kind: 'secret';
  readonly request: SecretRequest;
  /** Whose it is: the control plane's own, of which no worker is told; of a format; of a filter. */
  readonly use: 'own' | 'text' | 'filter';
}

/** A file that formats or bodies of answers tell of. */
export interface FileText {
  readonly path: string;
  /** It is read again as something is moved into this folder, too. */
  readonly watchedDirectory?: string;
  /** That it is written to says nothing. */
  readonly ignoresWrites?: boolean;
  /** What it holds is no longer, or is left alone. */
  readonly maxBytes?: number;
}

export interface FileTextSource {
  readonly kind: 'file';
  readonly file: FileText;
  readonly name: string;
}

/** A token of a client (RFC 6749 §4.4). */
export interface TokenSource {
  readonly kind: 'token';
  readonly endpoint: HttpSource;
  readonly clientId: string;
  readonly auth: 'BASIC_AUTH' | 'TLS_CLIENT_AUTH' | 'URL_ENCODED_BODY';
  /** As it is now; empty: it is not there. */
  readonly secret: () => string;
  readonly scopes: readonly string[];
  readonly params: readonly { readonly name: string; readonly value: string }[];
  readonly retryMs: number;
  /** "http.web.credential_injector.oauth2." */
  readonly statPrefix: string;
  readonly localAddress: string;
}

export interface AwsSource {
  readonly kind: 'aws';
  readonly chain: AwsChain;
}

export type LiveSource = AwsSource | FileTextSource | SecretSource | TokenSource;

type Heed = (id: number, source: LiveSource) => void;

/** All of a configuration, and of what comes while the server runs, by numbers that are never used again. */
export class LiveSources {
  readonly #sources = new Map<number, LiveSource>();
  readonly #heeds: Heed[] = [];
  /** Names of texts are unique within the process, which other proxies may be in. */
  readonly #prefix = randomUUID();
  readonly #files = new Set<string>();
  #last = 0;
  readonly #ofListeners = new Set<number>();
  #isOfListeners = false;
  /** What a secret says now; undefined: it has not come. */
  secretText: ((request: SecretRequest) => string | undefined) | undefined;
  readonly #releases: ((id: number) => void)[] = [];

  add(source: LiveSource): number {
    this.#last += 1;
    this.#sources.set(this.#last, source);
    if (this.#isOfListeners) this.#ofListeners.add(this.#last);
    for (const heed of this.#heeds) heed(this.#last, source);
    return this.#last;
  }

  /** What is added meanwhile is of listeners of the bootstrap, which wait until clusters are there. */
  ofListeners<T>(compile: () => T): T {
    this.#isOfListeners = true;
    try {
      return compile();
    } finally {
      this.#isOfListeners = false;
    }
  }

  isOfListeners(id: number): boolean {
    return this.#ofListeners.has(id);
  }

  /** Is told of those that are there, and of those that come. */
  follow(heed: Heed): void {
    this.#heeds.push(heed);
    for (const [id, source] of [...this.#sources]) heed(id, source);
  }

  /** Is told of those that nobody has any more. */
  onRelease(heed: (id: number) => void): void {
    this.#releases.push(heed);
  }

  /** Of the text that a secret is: one that comes, or, by its name, one of the bootstrap. */
  nameOfSecret(secret: number | string): string {
    return `${this.#prefix} ${typeof secret} ${secret}`;
  }

  /** All that have the same file have the same text. */
  nameOfFile(file: FileText): string {
    const name = `${this.#prefix} file ${JSON.stringify(file)}`;
    if (!this.#files.has(name)) {
      this.#files.add(name);
      this.add({ kind: 'file', file, name });
    }
    return name;
  }

  /** Undefined: it has not come. */
  secretTextOf(id: number): string | undefined {
    const source = this.#sources.get(id);
    return source?.kind === 'secret' ? this.secretText?.(source.request) : undefined;
  }

  delete(id: number): void {
    this.#sources.delete(id);
    this.#ofListeners.delete(id);
  }

  /** What had it has gone. */
  release(id: number): void {
    this.delete(id);
    for (const heed of this.#releases) heed(id);
  }

  isThere(id: number): boolean {
    return this.#sources.has(id);
  }

  has(kind: LiveSource['kind']): boolean {
    return [...this.#sources.values()].some((source) => source.kind === kind);
  }
}

/** Those of what comes and goes as a whole. */
export class HeldSecrets {
  readonly #live: LiveSources;
  readonly #all: HeldSecret[] = [];

  constructor(live: LiveSources) {
    this.#live = live;
  }

  get all(): readonly HeldSecret[] {
    return this.#all;
  }

  /** As a context's. */
  readonly hold = (id: number, request?: SecretRequest): void => {
    const release = (): void => this.#live.release(id);
    this.#all.push({ ...(request && { request }), release });
  };

  release(): void {
    releaseSecrets(this.#all.splice(0));
  }
}

export function releaseSecrets(secrets: readonly HeldSecret[]): void {
  for (const one of secrets) one.release();
}
