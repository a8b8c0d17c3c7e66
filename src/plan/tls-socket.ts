// What a transport socket of TLS becomes.
import type { Place } from './message/place.js';
import type { Http11ProxySocket, ProxyProtocolSocket, TlsContext } from './plan.gen.js';
import type { SecretLookup, SecretRequest } from './secret-request.js';
import type { PemFile, UpstreamTlsPlan } from './service-plan.js';

/** The certificates of a context, as /certs shows them. */
export interface TlsFiles {
  readonly authorities: readonly PemFile[];
  readonly chains: readonly PemFile[];
}

export interface TlsSocketPlan {
  readonly context: TlsContext;
  readonly files: TlsFiles;
  /** Absent: all that it needs is there. */
  readonly recipe?: TlsRecipe;
  /** The data plane has it: from here on it is the control plane's, too. */
  readonly use?: () => void;
}

/** Of a static cluster. */
export interface ClusterSocket {
  readonly cluster: string;
  readonly socket: TlsSocketPlan;
}

/** How a socket is made again when a secret comes. */
export interface TlsRecipe {
  readonly requests: readonly SecretRequest[];
  /** What is wrong goes to `place`, or to those of secrets; undefined then. */
  make(lookup: SecretLookup, place: Place): TlsSocketPlan | undefined;
}

/** Of a cluster: its connections may be the control plane's, too. */
export interface UpstreamTlsSocketPlan extends TlsSocketPlan {
  readonly control: UpstreamTlsPlan;
}

/** How hosts are reached. */
export interface UpstreamSocketPlan {
  /** Absent: bytes in the clear. */
  readonly tls?: UpstreamTlsSocketPlan;
  /** What connections begin with; absent: nothing. */
  readonly proxyProtocol?: ProxyProtocolSocket;
  /** Through which proxies; absent: none. */
  readonly http11Proxy?: Http11ProxySocket;
  /** What internal listeners are told; absent: nothing. */
  readonly internalUpstream?: InternalUpstreamPlan;
}

/** Namespaces of metadata. */
export interface InternalUpstreamPlan {
  readonly hostNamespaces: readonly string[];
  readonly clusterNamespaces: readonly string[];
}
