// gRPC services of the control plane, as the configuration has them.
import { Cluster_Protocol, type Address, type Cluster } from './plan.gen.js';

/** In the order in which they are sent; names are lower case. */
export type GrpcMetadata = readonly (readonly [name: string, value: string | Buffer])[];

/** When a stream that nobody has answered yet is opened anew. */
export interface GrpcRetryPlan {
  readonly on: ReadonlySet<string>;
  readonly count: number;
  readonly baseMs: number;
  readonly maxMs: number;
}

/** For those who ask hosts of a cluster, which may be another from one moment to the next, or gone. */
export interface ClusterLookup {
  get(name: string): GrpcClusterPlan | undefined;
  /** `onChange` is told whenever it is another, or gone. What comes back ends that. */
  watch(name: string, onChange: () => void): () => void;
}

/** Over HTTP/2 to the hosts of a cluster. */
export interface EnvoyGrpcPlan {
  readonly kind: 'envoy';
  readonly clusterName: string;
  /** What is known of it now. */
  readonly clusters: ClusterLookup;
  readonly authority: string;
  readonly metadata: GrpcMetadata;
  /** 0: of any length. */
  readonly maxMessageBytes: number;
  readonly retry?: GrpcRetryPlan;
}

/** By the gRPC library, which finds its hosts itself. */
export interface GoogleGrpcPlan {
  readonly kind: 'google';
  readonly target: string;
  readonly statPrefix: string;
  readonly credentials: GoogleCredentials;
  /** Sent as "authorization: Bearer …". */
  readonly accessTokens: readonly string[];
  /** Each sent as a header, which is read anew for each call. */
  readonly fileTokens: readonly FileToken[];
  readonly channelOptions: Readonly<Record<string, string | number>>;
  readonly metadata: GrpcMetadata;
}

/** A header whose value is in a file, or is `text`. */
export interface FileToken {
  readonly header: string;
  readonly prefix: string;
  readonly path?: string;
  readonly text: string;
}

export type GrpcServicePlan = EnvoyGrpcPlan | GoogleGrpcPlan;

export type GoogleCredentials =
  | { readonly kind: 'insecure' }
  | {
      readonly kind: 'ssl';
      readonly roots?: Buffer;
      readonly key?: Buffer;
      readonly chain?: Buffer;
    };

/** A cluster as connections of the control plane see it. */
export interface GrpcClusterPlan {
  readonly name: string;
  readonly connectTimeoutMs: number;
  /** 0: never. */
  readonly idleTimeoutMs: number;
  readonly maxConnectionMs: number;
  readonly maxStreamMs: number;
  readonly maxRequests: number;
  readonly keepalive?: { readonly idleMs: number };
  readonly source?: Address;
  readonly http2: Http2Plan;
  /** To whoever asks for anything but gRPC, which is always HTTP/2. */
  readonly speaks: 'HTTP/1' | 'HTTP/2' | 'what TLS agrees on';
  readonly tls?: UpstreamTlsPlan;
  /** Its hosts expect the header of the PROXY protocol. */
  readonly goesThrough?: string;
}

/** What HTTP/2 connections to a cluster are told at their beginning, and how they are watched. */
export interface Http2Plan {
  readonly settings: {
    readonly headerTableSize?: number;
    readonly initialWindowSize?: number;
    readonly maxConcurrentStreams?: number;
    readonly maxFrameSize?: number;
    readonly maxHeaderListSize?: number;
  };
  readonly connectionWindowBytes?: number;
  readonly ping?: {
    readonly intervalMs: number;
    readonly timeoutMs: number;
    /** An interval is longer by up to so many percent. */
    readonly jitterPct: number;
  };
}

/** What a peer's certificate must say of it; `value` as `how` has it. */
export interface SubjectTest {
  readonly type: 'DNS' | 'URI' | 'EMAIL' | 'IP_ADDRESS';
  readonly how: 'exact' | 'prefix' | 'suffix' | 'contains';
  readonly value: string;
  readonly ignoreCase: boolean;
}

export interface PemFile {
  readonly pem: Buffer;
  /** "<inline>": the configuration itself. */
  readonly path: string;
  /** Of the OCSP response that goes along; absent: there is none. */
  readonly ocsp?: OcspTimes;
}

/** Milliseconds since 1970. */
export interface OcspTimes {
  readonly validFromMs: number;
  /** Absent: it does not say. */
  readonly expirationMs?: number;
}

export interface UpstreamTlsPlan {
  readonly sni: string;
  /** Without them nobody's certificate is verified, as in the real server. */
  readonly roots?: Buffer;
  readonly crl?: Buffer;
  readonly certificates: readonly {
    readonly chain: PemFile;
    readonly key: Buffer;
    readonly passphrase: string;
  }[];
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** As OpenSSL reads them; absent: its own. */
  readonly ciphers?: string;
  readonly curves?: string;
  readonly signatures?: string;
  readonly alpn: readonly string[];
  /** One of them must hold; none: any subject will do. */
  readonly subjects: readonly SubjectTest[];
  /** SHA-256 of the certificate, lower-case hex, and of its public key, base64: one must hold. */
  readonly hashes: readonly string[];
  readonly keyHashes: readonly string[];
  /** What the data plane does and connections of the control plane do not; absent: nothing. */
  readonly unsupported?: string;
  /** In place of all else: some of its secrets come while the server runs. */
  readonly live?: LiveTls;
}

/** As its secrets are now; undefined: one has not come yet. */
export interface LiveTls {
  current?: UpstreamTlsPlan;
}

export type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';

export function grpcCluster(
  cluster: Cluster,
  options: { readonly http2?: Http2Plan | undefined; readonly tls?: UpstreamTlsPlan | undefined },
): GrpcClusterPlan {
  const name = cluster.name ?? '';
  const source = cluster.sources?.[0]?.address;
  return {
    name,
    connectTimeoutMs: cluster.connect_timeout_ms ?? 0,
    idleTimeoutMs: cluster.idle_timeout_ms ?? 0,
    maxConnectionMs: cluster.max_connection_duration_ms ?? 0,
    maxStreamMs: cluster.max_stream_duration_ms ?? 0,
    maxRequests: cluster.max_requests_per_connection ?? 0,
    ...(cluster.tcp_keepalive && {
      keepalive: { idleMs: (cluster.keepalive_time_s ?? 0) * 1000 },
    }),
    ...(source && { source }),
    http2: options.http2 ?? { settings: {} },
    speaks: spokenBy(cluster),
    ...(cluster.proxy_protocol && { goesThrough: 'the PROXY protocol' }),
    ...(cluster.http11_proxy && { goesThrough: 'an HTTP/1.1 proxy' }),
    ...(cluster.internal_upstream && { goesThrough: 'internal listeners' }),
    ...(options.tls && { tls: options.tls }),
  };
}

/** Who asks is no client, whose protocol there would be to follow. */
function spokenBy({ protocol }: Cluster): GrpcClusterPlan['speaks'] {
  switch (protocol) {
    case Cluster_Protocol.HTTP2:
      return 'HTTP/2';
    case Cluster_Protocol.BY_ALPN:
      return 'what TLS agrees on';
    default:
      return 'HTTP/1';
  }
}
