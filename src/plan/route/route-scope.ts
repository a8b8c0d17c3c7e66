import type { ChainFilter } from '../chain-filter.js';
import type { CompileContext } from '../extension.js';
import type { ClusterTree } from './cluster-tree.js';
import type { FilterConfig, MirrorPolicy, RateLimit, RetryPolicy } from '../plan.gen.js';

export interface FilterOverride {
  /** Switched off, or on even where the chain has it off. */
  readonly disabled: boolean;
  /** Its place among the table's configs. */
  readonly config?: number | undefined;
  /** Filters on the way to hosts may have such a configuration, too. */
  readonly isForTries?: boolean;
}

/** What one of these levels says. */
export interface FilterOverrides {
  readonly byName: ReadonlyMap<string, FilterOverride>;
  /** The older field `cors`: the place of its policy among the table's configs. */
  readonly cors?: number | undefined;
  /** The field `rate_limits`: likewise. */
  readonly rateLimits?: number | undefined;
}

/** Copies that a table, a virtual host or a route wants; they go for all below that say nothing. */
export interface Mirrors {
  /** For a route. Only what is of one has its clusters looked for, as in the real server. */
  forRoute(): readonly MirrorPolicy[];
}

/** What a virtual host, or its table, says for those of its routes that say nothing themselves. */
export interface RouteDefaults {
  readonly retry?: RetryPolicy | undefined;
  readonly hedgesOnTimeout?: boolean | undefined;
  readonly body?: BodyLimit | undefined;
  readonly mirrors?: Mirrors | undefined;
  readonly rateLimits?: readonly RateLimit[] | undefined;
}

/** How much of a request's body is kept to be sent again. */
export interface BodyLimit {
  /** No more than this, and than the listener's limit. */
  readonly body_limit_bytes?: number | undefined;
  /** Whatever the listener's limit. */
  readonly body_override_bytes?: number | undefined;
}

/** What the routes of one table have in common. */
export interface RouteScope {
  readonly context: CompileContext;
  readonly validatesClusters: boolean;
  /** What routes may name to say their clusters; undefined: wrong itself. */
  readonly clusterTrees: ReadonlyMap<string, ClusterTree | undefined>;
  /** The longest body of a direct response. */
  readonly maxBodyBytes: number;
  /** The filters before the router, in their order. */
  readonly chain: readonly ChainFilter[];
  /** Of the connection manager. */
  readonly statPrefix: string;
  /** The table's, then the virtual host's, then the route's, as far as they are known. */
  readonly filterOverrides: readonly FilterOverrides[];
  /** Takes what a level says of a filter and gives its place in the table's list. */
  addFilterConfig(config: FilterConfig): number;
  /** The virtual host's. */
  readonly defaults: RouteDefaults;
}

/** Of a route or a virtual host; undefined: it says nothing. */
export function bodyLimit(message: {
  readonly per_request_buffer_limit_bytes?: number;
  readonly request_body_buffer_limit?: number;
}): BodyLimit | undefined {
  if (message.request_body_buffer_limit !== undefined) {
    return { body_override_bytes: message.request_body_buffer_limit };
  }
  return message.per_request_buffer_limit_bytes === undefined
    ? undefined
    : { body_limit_bytes: message.per_request_buffer_limit_bytes };
}
