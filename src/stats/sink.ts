// What takes statistics away from here.
import type { ControlHost } from '../native.js';
import type { ClusterLookup } from '../plan/service-plan.js';

/** On the control thread. Nothing of it throws: what cannot be sent is lost, and said once. */
export interface StatsSink {
  /** A piece of a flush, or of what comes between them. */
  write(piece: Buffer): void;
  /** The flush is complete. */
  end(): void;
  /** Resolves when all has left, or cannot. */
  close(): Promise<void>;
}

/** What a sink needs of the server around it. */
export interface SinkHost {
  /** The host of a cluster whose turn it is; undefined where none may be used, which is counted. */
  chooseHost(cluster: string): ControlHost | undefined;
  /** Adds to a statistic of the cluster. */
  countOf(cluster: string, statistic: string, amount: number): void;
  /** Adds to a statistic by its full name. */
  count(name: string): void;
  /** For those who post to hosts of one. */
  readonly clusters: ClusterLookup;
  /** This machine's, as hosts are told it. */
  readonly localAddress: string;
  warn(message: string): void;
  info(message: string): void;
}
