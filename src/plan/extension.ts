// The contract of an extension: one configuration message, compiled to its part of the plan; and what
// every compile function may look at besides its own message.
import type {
  Any,
  envoy_config_core_v3_Locality as Locality,
  envoy_config_trace_v3_Tracing_Http as TracerProvider,
} from '../../build/messages.gen.js';
import { nearestName } from '../base/suggest.js';
import type { Authorities } from './authorities.js';
import { isKnown, knownByName, namesOf, unregistered, type Kind } from './known-extensions.js';
import type {
  BalancerPlan,
  CacheStore,
  HttpFilterPlan,
  ListenerFilterPlan,
  LogTarget,
  MonitorPlan,
  NetworkFilterPlan,
  SinkPlan,
  UpstreamHttpOptions,
  WatchdogActionPlan,
} from './extension-plans.js';
import type { ResolverPlan } from './dns-resolver.js';
import type { LogServices } from './log-service.js';
import type { TapDeclaration } from './match/tap.js';
import type { ClusterSources } from './cluster-sources.js';
import type { ControlClusters } from './control-clusters.js';
import type { HiddenClusters } from './hidden-clusters.js';
import type { DiscoveredPlaces } from './discovered.js';
import type { Place } from './message/place.js';
import type {
  Decoder,
  Encoder,
  FilterConfig,
  ResponsePolicy,
  RetryHosts,
  TlsContext,
  Update,
} from './plan.gen.js';
import type { RuntimeReads } from './runtime/runtime-reads.js';
import type { JwksSource } from './jwks-source.js';
import type { LiveSources } from './live-sources.js';
import type { LocalCluster } from './local-cluster.js';
import type { SharedNames } from './shared-names.js';
import type { RoutePlaces } from './route-slots.js';
import type { SecretRequest } from './secret-request.js';
import type { StaticSecrets } from './static-secrets.js';
import type { TagNames } from './tag-names.js';
import type { TracerPlan, TracerPlans } from './tracer-plans.js';
import type { TlsSocketPlan, UpstreamSocketPlan, UpstreamTlsSocketPlan } from './tls-socket.js';

export interface Extension<Compiled> {
  /** The name it has in the real server: "envoy.filters.network.tcp_proxy". */
  readonly name: string;
  /** Its message's full name; this is what it is found by. */
  readonly type: string;
  /** By --disable-extensions: no configuration may use it. */
  readonly isDisabled?: boolean;
  /** What is wrong goes to `place`; the result is only used when nothing is. */
  readonly compile: (config: Any, place: Place, context: CompileContext) => Compiled;
}

/** An HTTP filter. Routes, virtual hosts, tables and weighted clusters may configure it, too. */
export interface HttpFilterExtension extends Extension<HttpFilterPlan> {
  readonly byRoute?: {
    /** The full name of the message that they have. */
    readonly type: string;
    /** Undefined after an error. */
    readonly compile: (
      config: Any,
      place: Place,
      context: CompileContext,
    ) => FilterConfig | undefined;
  };
}

/** The extensions that a configuration may use, by what they extend. */
export interface Registry {
  readonly listenerFilters: readonly Extension<ListenerFilterPlan>[];
  readonly networkFilters: readonly Extension<NetworkFilterPlan>[];
  readonly httpFilters: readonly HttpFilterExtension[];
  /** Those that tries may pass on their way to hosts. */
  readonly upstreamHttpFilters: readonly HttpFilterExtension[];
  /** Undefined after an error. */
  readonly accessLoggers: readonly Extension<LogTarget | undefined>[];
  /** true: bytes in the clear; undefined after an error. */
  readonly downstreamTransportSockets: readonly Extension<true | TlsSocketPlan | undefined>[];
  readonly upstreamTransportSockets: readonly Extension<
    true | UpstreamTlsSocketPlan | UpstreamSocketPlan | undefined
  >[];
  /** Undefined: they say nothing of HTTP. */
  readonly protocolOptions: readonly Extension<UpstreamHttpOptions | undefined>[];
  readonly balancers: readonly Extension<BalancerPlan | undefined>[];
  readonly retryHostPredicates: readonly Extension<RetryHosts>[];
  readonly retryPriorities: readonly Extension<RetryHosts>[];
  /** Undefined after an error. */
  readonly statSinks: readonly Extension<SinkPlan | undefined>[];
  /** Undefined after an error. */
  readonly resourceMonitors: readonly Extension<MonitorPlan | undefined>[];
  /** Undefined after an error. */
  readonly tracers: readonly Extension<TracerPlan | undefined>[];
  /** Of answers that take another's place; undefined after an error. */
  readonly responsePolicies: readonly Extension<ResponsePolicy | undefined>[];
  /** Where answers are kept; undefined after an error. */
  readonly caches: readonly Extension<CacheStore | undefined>[];
  /** Of content codings; undefined after an error. */
  readonly encoders: readonly Extension<Encoder | undefined>[];
  readonly decoders: readonly Extension<Decoder | undefined>[];
  readonly watchdogActions: readonly Extension<WatchdogActionPlan>[];
}

export interface InternalListenersPlan {
  /** What each end of a connection may have on its way; absent: as the kernel has it. */
  readonly bufferBytes?: number;
}

export interface CompileContext {
  /** The node's cluster: --service-cluster, or else of the bootstrap. */
  readonly serviceCluster: string;
  /** The node's id: --service-node, or else of the bootstrap. */
  readonly serviceNode: string;
  /** The node's zone: --service-zone, or else of the bootstrap; empty: it is in none. */
  readonly zone: string;
  /** The node has an id and a cluster, as some extensions demand. */
  readonly hasNode: boolean;
  /** Where the node is; absent: nobody says. */
  readonly nodeLocality?: Locality;
  /** What the bootstrap says of the node besides. */
  readonly nodeMetadata: Readonly<Record<string, unknown>>;
  /** Loads are reported to a service (load_stats_config). */
  readonly reportsLoads?: boolean;
  /** The bootstrap has an aggregated stream. */
  readonly hasAds: boolean;
  /** It is incremental. */
  readonly isAdsDelta: boolean;
  /** Who is asked for resources with xdstp names. */
  readonly authorities: Authorities;
  /** What is told of the node with each collection that is asked for. */
  readonly nodeContext: ReadonlyMap<string, string>;
  /** This machine's address as clients on loopback are called (--local-address-ip-version). */
  readonly localAddress: string;
  /** Names of all clusters that are known when routes are read. */
  readonly clusterNames: ReadonlySet<string>;
  /** Those of the bootstrap whose hosts do not come by EDS: a control plane may be there. */
  readonly primaryClusters: ReadonlySet<string>;
  /** Where goes what only a start looks at: the control planes of secrets and collections; absent: with the rest. */
  readonly start?: Place | undefined;
  /** Clusters come from a control plane, and pages say so. */
  readonly viaApi?: boolean;
  /** Clusters as gRPC services reach them, by name; filled before anything else is read. */
  readonly grpcClusters: ControlClusters;
  /** The cluster that this proxy is one of; absent: nobody says which it is. */
  readonly localCluster?: LocalCluster;
  /** Who is asked for names, where `asker`, a cluster, does not say; undefined: the system's servers. */
  readonly defaultResolver: (asker: Place) => ResolverPlan | undefined;
  /** How internal listeners are; absent: there may be none. */
  readonly internalListeners?: InternalListenersPlan;
  readonly runtime: RuntimeReads;
  readonly extensions: Registry;
  /** Of connection managers. */
  readonly routes: RoutePlaces;
  readonly secrets: StaticSecrets;
  /** Takes the tracers of connection managers. */
  readonly tracers: TracerPlans;
  /** The bootstrap's, for connection managers that name none. */
  readonly defaultTracer?: { readonly message: TracerProvider; readonly place: Place };
  /** What tags of spans name of metadata. */
  readonly tagNames: TagNames;
  /** Where hosts are looked up that requests name. */
  readonly names: SharedNames;
  /** What OpenSSL says is wrong; absent: nobody asks it. */
  readonly checkTls: ((context: TlsContext) => string | undefined) | undefined;
  /** Of filters that come later. */
  readonly discovered: DiscoveredPlaces;
  readonly clusterSources: ClusterSources;
  /** Whether a library of content codings is there; absent: nobody asks. */
  readonly hasCoding: ((coding: 'brotli' | 'zstd') => boolean) | undefined;
  /** Takes a transport socket of a filter chain. */
  addTls(socket: TlsSocketPlan): void;
  /** Of `live`: a filter or a format has it, and wants it as long as it is there. `request`: it comes by SDS. */
  holdLive(id: number, request?: SecretRequest): void;
  /** Services that access logs are sent to. */
  readonly logServices: LogServices;
  /** Of services that are reached without a cluster of the configuration. */
  readonly hiddenClusters: HiddenClusters;
  /** Takes a tap and gives the number under which the plan has it. */
  addTap(tap: TapDeclaration): number;
  /** Of what filters are told while the server runs. */
  readonly live: LiveSources;
  /** Of the connection manager whose filters are read; absent: there is none. */
  readonly httpStatPrefix?: string;
  /** As it calls the filter that is read. */
  readonly httpFilterName?: string;
  /**
   * Of a network filter that may change while the server runs: makes of its part what it is from then
   * on, for the data plane. Absent: it stays as it is.
   */
  readonly changesChain?: () => (change: (part: NetworkFilterPlan) => NetworkFilterPlan) => Update;
  /** Takes a place that keys are fetched from and gives the number under which the plan has it. */
  addJwks(source: JwksSource): number;
}

/** Declares an extension whose message is a `Config`: the type name vouches for it. */
export function defineExtension<Config extends object, Compiled>(extension: {
  readonly name: string;
  readonly type: string;
  readonly compile: (config: Config, place: Place, context: CompileContext) => Compiled;
}): Extension<Compiled> {
  const { name, type, compile } = extension;
  return {
    name,
    type,
    compile: (config, place, context) =>
      compile(config as unknown as Config, place.within(type), context),
  };
}

/** The same of an HTTP filter that a route configures by a `ByRoute`. */
export function defineHttpFilter<Config extends object, ByRoute extends object>(filter: {
  readonly name: string;
  readonly type: string;
  readonly compile: (config: Config, place: Place, context: CompileContext) => HttpFilterPlan;
  readonly byRoute: {
    readonly type: string;
    readonly compile: (
      config: ByRoute,
      place: Place,
      context: CompileContext,
    ) => FilterConfig | undefined;
  };
}): HttpFilterExtension {
  const { type, compile } = filter.byRoute;
  return {
    ...defineExtension<Config, HttpFilterPlan>(filter),
    byRoute: {
      type,
      compile: (config, place, context) =>
        compile(config as unknown as ByRoute, place.within(type), context),
    },
  };
}

/** An extension as configurations name it. */
export interface Named {
  readonly name?: string | undefined;
  readonly typed_config?: Any | undefined;
}

/** The extension of this kind that `config` asks for; otherwise an error at its place, and undefined. */
export function findExtension<K extends Kind>(
  { extensions }: Pick<CompileContext, 'extensions'>,
  kind: K,
  config: Named,
  place: Place,
): Registry[K][number] | undefined {
  const candidates: Registry[K] = extensions[kind];
  const name = config.name ?? '';
  const type = config.typed_config?.$type ?? '';
  if (type === '') {
    refuseBareName(kind, name, candidates, place);
    return undefined;
  }
  const found = candidates.find((candidate) => candidate.type === type);
  if (found && !found.isDisabled) return found;
  const expected = `one of ${candidates.map((candidate) => candidate.type).join(', ')}`;
  const at = place.field('typed_config');
  if (found) at.error(`${unregistered(name, type)}: --disable-extensions disables it`);
  else if (isKnown(kind, type))
    at.error(`the extension '${name}' (${type}) is not supported yet`, { expected });
  else at.error(unregistered(name, type), { expected });
  return undefined;
}

/** Says what is to be written. */
function refuseBareName(
  kind: Kind,
  name: string,
  candidates: readonly { readonly type: string }[],
  place: Place,
): void {
  const known = knownByName(kind, name);
  if (!known) {
    place.error(unregistered(name, ''), {
      expected: 'typed_config with "@type" and a type URL',
      suggestion: nearestName(name, namesOf(kind)),
    });
    return;
  }
  const isSupported = candidates.some(({ type }) => type === known.type);
  place.error(unregistered(name, ''), {
    expected:
      `typed_config: {"@type": "type.googleapis.com/${known.type}"}` +
      (isSupported ? '' : ', which is not supported yet'),
  });
}
