// Where keys of issuers are fetched from while the server runs.
import type { ClusterLookup } from './service-plan.js';

/** What is asked over HTTP, of the hosts of a cluster. */
export interface HttpSource {
  readonly uri: string;
  readonly host: string;
  readonly path: string;
  readonly clusterName: string;
  readonly clusters: ClusterLookup;
  readonly timeoutMs: number;
  /** Of each try; absent: as long as all of them may take. */
  readonly tryMs?: number;
  readonly retries: number;
  readonly backOff: { readonly baseMs: number; readonly maxMs: number };
}

/** Keys that the data plane knows by a number. */
export interface JwksSource extends HttpSource {
  readonly cacheMs: number;
  /** Absent: they are fetched when somebody asks. */
  readonly ahead?: {
    /** Listeners do not wait for them. */
    readonly isFast: boolean;
    readonly afterSuccessMs: number;
    readonly afterFailureMs: number;
  };
  readonly localAddress: string;
}

/** All of a configuration, and of what comes while the server runs, by numbers that are never used again. */
export class JwksSources {
  readonly #sources = new Map<number, JwksSource>();
  #last = 0;
  /** Told of those that come later. */
  onAdd: ((id: number, source: JwksSource) => void) | undefined;

  add(source: JwksSource): number {
    this.#last += 1;
    this.#sources.set(this.#last, source);
    this.onAdd?.(this.#last, source);
    return this.#last;
  }

  get(id: number): JwksSource | undefined {
    return this.#sources.get(id);
  }

  delete(id: number): void {
    this.#sources.delete(id);
  }

  entries(): [number, JwksSource][] {
    return [...this.#sources];
  }
}
