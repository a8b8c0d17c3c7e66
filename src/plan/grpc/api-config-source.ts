// A control plane that is asked for resources (envoy.config.core.v3.ApiConfigSource): over gRPC or REST.
import type {
  envoy_config_core_v3_ApiConfigSource as ApiConfigSource,
  envoy_config_core_v3_RateLimitSettings as RateLimitSettings,
  envoy_extensions_config_validators_minimum_clusters_v3_MinimumClustersValidator as MinimumClusters,
} from '../../../build/messages.gen.js';
import { nearestName } from '../../base/suggest.js';
import type { CompileContext } from '../extension.js';
import { nodeRequired } from '../message/node-required.js';
import { compileBackOff } from '../message/back-off.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Source, StreamPlan } from '../sources.js';
import { compileGrpcService } from './grpc-service.js';

const TYPE = 'envoy.config.core.v3.ApiConfigSource';
const API = supportedFields<ApiConfigSource>(TYPE, [
  'api_type',
  'transport_api_version',
  'cluster_names',
  'grpc_services',
  'refresh_delay',
  'request_timeout',
  'rate_limit_settings',
  'set_node_on_first_message_only',
  'config_validators',
]);
const MINIMUM = supportedFields<MinimumClusters>(
  'envoy.extensions.config.validators.minimum_clusters.v3.MinimumClustersValidator',
  ['min_clusters_num'],
);
const RATE_LIMIT = supportedFields<RateLimitSettings>('envoy.config.core.v3.RateLimitSettings', [
  'max_tokens',
  'fill_rate',
]);

const DEFAULT_REQUEST_TIMEOUT_MS = 1000;
const DEFAULT_BURST = 100;
const DEFAULT_PER_SECOND = 10;
const DEFAULT_BACK_OFF_MS = 500;
const DEFAULT_MAX_BACK_OFF_MS = 30_000;

export type SourceContext = Pick<
  CompileContext,
  | 'hasNode'
  | 'hasAds'
  | 'clusterNames'
  | 'primaryClusters'
  | 'grpcClusters'
  | 'localAddress'
  | 'start'
> & {
  /** As the real server has it for secrets: their cluster is looked for each time it is to be asked. */
  readonly mayClusterBeAway?: boolean;
  /** Files that are not there are the mistake of who asks for them, later. */
  readonly mayFileBeAway?: boolean;
};

/** Undefined after an error. */
export function compileApiSource(
  api: ApiConfigSource,
  place: Place,
  context: SourceContext,
  initialFetchTimeoutMs: number,
): Source | undefined {
  const { api_type: kind } = api;
  if (!hasOneBacking(api, place)) return undefined;
  if (kind === 'GRPC' || kind === 'DELTA_GRPC') {
    const stream = compileStream(api, place, context);
    return stream && { kind: 'grpc', stream, initialFetchTimeoutMs };
  }
  if (kind !== 'REST') {
    place.field('api_type').error(`Unsupported config source ${kind ?? ''}`, {
      expected: 'GRPC, DELTA_GRPC or REST',
    });
    return undefined;
  }
  return compileRest(api, place, context, initialFetchTimeoutMs);
}

/** The bootstrap's aggregated stream. Undefined after an error. */
export function compileAds(
  api: ApiConfigSource,
  place: Place,
  context: SourceContext,
): StreamPlan | undefined {
  if (!context.hasNode) {
    place.error(nodeRequired('ads'));
  }
  if (api.api_type !== 'GRPC' && api.api_type !== 'DELTA_GRPC') {
    place
      .field('api_type')
      .error(`${TYPE} type must be of non-aggregated gRPC`, { expected: 'GRPC or DELTA_GRPC' });
    return undefined;
  }
  // Its cluster may have its hosts by EDS.
  const { clusterNames: primaryClusters } = context;
  return hasOneBacking(api, place)
    ? compileStream(api, place, { ...context, primaryClusters })
    : undefined;
}

/** That of an authority. Undefined after an error. */
export function compileAggregated(
  api: ApiConfigSource,
  place: Place,
  context: SourceContext,
): StreamPlan | undefined {
  if (api.api_type !== 'AGGREGATED_GRPC' && api.api_type !== 'AGGREGATED_DELTA_GRPC') {
    place
      .field('api_type')
      .error(
        'xdstp-based config source authority only supports AGGREGATED_GRPC and ' +
          'AGGREGATED_DELTA_GRPC types.',
      );
    return undefined;
  }
  return hasOneBacking(api, place) ? compileStream(api, place, context) : undefined;
}

/** A service that is no source of resources, over a stream of its own. Undefined after an error. */
export function compileServiceStream(
  api: ApiConfigSource,
  place: Place,
  context: SourceContext,
): StreamPlan | undefined {
  if (api.api_type !== 'GRPC') {
    place.field('api_type').error(`${TYPE} type must be gRPC`, { expected: 'GRPC' });
    return undefined;
  }
  return hasOneBacking(api, place) ? compileStream(api, place, context) : undefined;
}

function hasOneBacking(api: ApiConfigSource, place: Place): boolean {
  refuseOtherFields(place, api, API);
  if (api.transport_api_version === 'V2') {
    place
      .field('transport_api_version')
      .error('V2 xDS transport protocol version is deprecated', { expected: 'V3' });
  }
  const { cluster_names: names = [], grpc_services: services = [], api_type: kind } = api;
  const isGrpc = kind !== undefined && kind.endsWith('GRPC');
  if (names.length === 0 && services.length === 0) {
    place.error('API configs must have either a gRPC service or a cluster name defined', {
      expected: isGrpc ? 'grpc_services' : 'cluster_names',
    });
    return false;
  }
  if (isGrpc && names.length > 0) {
    place
      .field('cluster_names')
      .error(`${TYPE}::(AGGREGATED_)(DELTA_)GRPC must not have a cluster name specified`, {
        expected: 'grpc_services',
      });
    return false;
  }
  if (isGrpc && services.length > 1) {
    place
      .field('grpc_services')
      .error(`${TYPE}::(DELTA_)GRPC must have no more than 1 gRPC service specified`, {
        expected: 'one; a second one to fall back to is not supported',
      });
    return false;
  }
  if (!isGrpc && services.length > 0) {
    place
      .field('grpc_services')
      .error(`${TYPE}, if not a gRPC type, must not have a gRPC service specified`, {
        expected: 'cluster_names',
      });
    return false;
  }
  if (!isGrpc && names.length > 1) {
    place
      .field('cluster_names')
      .error(`${TYPE} must have a singleton cluster name specified`, { expected: 'one' });
    return false;
  }
  return true;
}

function compileStream(
  api: ApiConfigSource,
  place: Place,
  context: SourceContext,
): StreamPlan | undefined {
  const [message = {}] = api.grpc_services ?? [];
  const at = place.field('grpc_services').index(0);
  const cluster = message.envoy_grpc?.cluster_name;
  if (cluster !== undefined && !isPrimary(cluster, at.field('envoy_grpc'), context))
    return undefined;
  const { mayClusterBeAway: mayBeAway = false } = context;
  const service = compileGrpcService(message, at, context, { isStreamOfXds: true, mayBeAway });
  if (!service) return undefined;
  const limit = api.rate_limit_settings;
  if (limit) compileLimit(limit, place.field('rate_limit_settings'));
  const said = message.envoy_grpc?.retry_policy?.retry_back_off;
  const saidAt = at.field('envoy_grpc').field('retry_policy').field('retry_back_off');
  const backOff = said
    ? compileBackOff(said, saidAt, DEFAULT_BACK_OFF_MS)
    : { baseMs: DEFAULT_BACK_OFF_MS, maxMs: DEFAULT_MAX_BACK_OFF_MS };
  const minClusters = compileValidators(api, place.field('config_validators'));
  return {
    isDelta: api.api_type?.endsWith('DELTA_GRPC') ?? false,
    service,
    sendsNodeOnce: api.set_node_on_first_message_only ?? false,
    ...(minClusters > 0 && { minClusters }),
    ...(limit && {
      rateLimit: {
        burst: limit.max_tokens ?? DEFAULT_BURST,
        perSecond: limit.fill_rate ?? DEFAULT_PER_SECOND,
      },
    }),
    backOff,
  };
}

function compileLimit(limit: RateLimitSettings, place: Place): void {
  refuseOtherFields(place, limit, RATE_LIMIT);
  const { fill_rate: rate = DEFAULT_PER_SECOND } = limit;
  if (Number.isFinite(rate)) return;
  place
    .field('fill_rate')
    .error(`The value of fill_rate in RateLimitSettings (${rate}) must not be NaN nor Inf`);
}

/** How many clusters there have to be at least. */
function compileValidators(
  { config_validators: some = [] }: ApiConfigSource,
  place: Place,
): number {
  const least = some.map(({ name = '', typed_config: config }, index) => {
    const at = place.index(index);
    if (config?.$type === MINIMUM.type) {
      refuseOtherFields(at.field('typed_config'), config as MinimumClusters, MINIMUM);
      return (config as MinimumClusters).min_clusters_num ?? 0;
    }
    at.error(`the validator '${name}' (${config?.$type ?? ''}) is not supported`, {
      expected: MINIMUM.type,
    });
    return 0;
  });
  return Math.max(0, ...least);
}

function compileRest(
  api: ApiConfigSource,
  place: Place,
  context: SourceContext,
  initialFetchTimeoutMs: number,
): Source | undefined {
  const [name = ''] = api.cluster_names ?? [];
  if (!isPrimary(name, place.field('cluster_names').index(0), context)) return undefined;
  const cluster = context.grpcClusters.known(name);
  if (cluster?.tls?.unsupported !== undefined || cluster?.goesThrough !== undefined) {
    const what = cluster.goesThrough ?? `TLS with ${cluster.tls?.unsupported}`;
    place
      .field('cluster_names')
      .error(`cluster '${name}' has ${what}, which is not supported yet for REST`);
  }
  if (api.refresh_delay === undefined) {
    place
      .field('refresh_delay')
      .error('refresh_delay is required for REST API configuration sources');
    return undefined;
  }
  // Something is wrong with the cluster itself.
  if (!cluster && !context.mayClusterBeAway) return undefined;
  return {
    kind: 'rest',
    clusterName: name,
    clusters: context.grpcClusters,
    refreshMs: wholeMs(api.refresh_delay, 0),
    requestTimeoutMs: wholeMs(api.request_timeout, DEFAULT_REQUEST_TIMEOUT_MS),
    initialFetchTimeoutMs,
    localAddress: context.localAddress,
  };
}

function isPrimary(name: string, place: Place, context: SourceContext): boolean {
  const { primaryClusters, mayClusterBeAway } = context;
  if (mayClusterBeAway || primaryClusters.has(name)) return true;
  place.error(
    `${TYPE} must have a statically defined non-EDS cluster: '${name}' does not exist, was added ` +
      'via api, or is an EDS cluster',
    {
      expected: 'the name of a static cluster whose hosts do not come by EDS',
      suggestion: nearestName(name, primaryClusters),
    },
  );
  return false;
}
