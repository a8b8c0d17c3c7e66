// Where resources come from that are not written in the bootstrap.
import type { ClusterLookup, GrpcServicePlan } from './service-plan.js';

/** A file with a DiscoveryResponse. */
export interface FileSource {
  readonly kind: 'file';
  readonly path: string;
  /** Whatever is moved into this folder, the file is read again. Absent: when the file is replaced. */
  readonly watchedDirectory?: string;
  /** It is also read again when something is written to there. */
  readonly watchesWrites: boolean;
  /** It is read every so often instead, whether it is another or not. */
  readonly pollMs?: number;
  /** It is an xds.core.v3.Resource with a collection. */
  readonly isCollection?: boolean;
}

interface ServerSource {
  /** Whoever waits for the first answer waits no longer than this; 0: for ever. */
  readonly initialFetchTimeoutMs: number;
}

/** An aggregated stream of the bootstrap. */
export interface AdsSource extends ServerSource {
  readonly kind: 'ads';
  /** That of an authority, by its place in the bootstrap; absent: that of ads_config. */
  readonly authority?: number;
}

/** A stream of its own. */
export interface GrpcSource extends ServerSource {
  readonly kind: 'grpc';
  readonly stream: StreamPlan;
}

/** Asked again and again over HTTP. */
export interface RestSource extends ServerSource {
  readonly kind: 'rest';
  readonly clusterName: string;
  readonly clusters: ClusterLookup;
  readonly refreshMs: number;
  readonly requestTimeoutMs: number;
  /** Hosts are told that it asks. */
  readonly localAddress: string;
}

export type Source = FileSource | AdsSource | GrpcSource | RestSource;

/** What is asked for, and where. */
export interface Collected {
  readonly source: Source;
  /** The collection's name; absent: a file is one, or it is none. */
  readonly collection?: string;
}

/** A stream to a control plane. */
export interface StreamPlan {
  /** Incremental: only what changed is told. */
  readonly isDelta: boolean;
  readonly service: GrpcServicePlan;
  /** An update that leaves fewer clusters of CDS is refused; absent: none. */
  readonly minClusters?: number;
  /** The node is in the first request of a stream alone. */
  readonly sendsNodeOnce: boolean;
  /** How many requests may be sent; absent: as many as there are. */
  readonly rateLimit?: { readonly burst: number; readonly perSecond: number };
  /** How long to wait before a stream is opened anew. */
  readonly backOff: { readonly baseMs: number; readonly maxMs: number };
}
