// Clusters whose hosts DNS gives: what the server's DNS part needs to keep them up to date.
import type { Host } from '../plan.gen.js';
import type { AssignmentPolicy } from './assignment-policy.js';
import type { ResolverPlan } from '../dns-resolver.js';

export type LookupFamily = 'V4_ONLY' | 'V6_ONLY' | 'AUTO' | 'V4_PREFERRED' | 'ALL';

/** A name to resolve, and the host that each of its addresses becomes. */
export interface DnsEndpoint {
  readonly hostname: string;
  readonly port: number;
  /** All but the IP address; `hostname` is set. */
  readonly host: Host;
  /** Where it is checked at each address; absent or 0: at `port`. */
  readonly checkPort?: number;
}

export interface DnsClusterPlan {
  readonly name: string;
  /** strict: every address is a host. logical: one host, whose address is the first of the answer. */
  readonly kind: 'strict' | 'logical';
  readonly lookup: LookupFamily;
  readonly refreshMs: number;
  /** How soon a failed query is repeated; absent: like any other. */
  readonly failureRefresh?: { readonly baseMs: number; readonly maxMs: number };
  readonly respectTtl: boolean;
  /** No sooner than this, whatever an answer says of its time; absent: as it says. */
  readonly minRefreshMs?: number;
  /** So much later at most, by chance, after an answer; absent: no later. */
  readonly jitterMs?: number;
  readonly policy: AssignmentPolicy;
  /** Absent: the system's. */
  readonly resolver?: ResolverPlan;
  readonly endpoints: readonly DnsEndpoint[];
}
