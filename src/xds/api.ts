// How discovery services are called, by the type of their resources.

export interface DiscoveryApi {
  /** The full name of the resources' message. */
  readonly type: string;
  /** "/package.Service/Method" */
  readonly stream: string;
  readonly delta: string;
  /** Over REST. */
  readonly path: string;
}

const api = (type: string, service: string, what: string, path: string): DiscoveryApi => ({
  type,
  stream: `/${service}/Stream${what}`,
  delta: `/${service}/Delta${what}`,
  path: `/v3/discovery:${path}`,
});

export const CDS = api(
  'envoy.config.cluster.v3.Cluster',
  'envoy.service.cluster.v3.ClusterDiscoveryService',
  'Clusters',
  'clusters',
);
export const EDS = api(
  'envoy.config.endpoint.v3.ClusterLoadAssignment',
  'envoy.service.endpoint.v3.EndpointDiscoveryService',
  'Endpoints',
  'endpoints',
);
/** Incremental alone. */
export const LEDS = api(
  'envoy.config.endpoint.v3.LbEndpoint',
  'envoy.service.endpoint.v3.LocalityEndpointDiscoveryService',
  'LocalityEndpoints',
  'endpoints',
);
export const LDS = api(
  'envoy.config.listener.v3.Listener',
  'envoy.service.listener.v3.ListenerDiscoveryService',
  'Listeners',
  'listeners',
);
export const RDS = api(
  'envoy.config.route.v3.RouteConfiguration',
  'envoy.service.route.v3.RouteDiscoveryService',
  'Routes',
  'routes',
);
export const SDS = api(
  'envoy.extensions.transport_sockets.tls.v3.Secret',
  'envoy.service.secret.v3.SecretDiscoveryService',
  'Secrets',
  'secrets',
);
export const RTDS = api(
  'envoy.service.runtime.v3.Runtime',
  'envoy.service.runtime.v3.RuntimeDiscoveryService',
  'Runtime',
  'runtime',
);

export const SRDS = api(
  'envoy.config.route.v3.ScopedRouteConfiguration',
  'envoy.service.route.v3.ScopedRoutesDiscoveryService',
  'ScopedRoutes',
  'scoped-routes',
);
/** Incremental alone. */
export const VHDS = api(
  'envoy.config.route.v3.VirtualHost',
  'envoy.service.route.v3.VirtualHostDiscoveryService',
  'VirtualHosts',
  'virtual-hosts',
);
export const ECDS = api(
  'envoy.config.core.v3.TypedExtensionConfig',
  'envoy.service.extension.v3.ExtensionConfigDiscoveryService',
  'ExtensionConfigs',
  'extension_configs',
);

const ADS = '/envoy.service.discovery.v3.AggregatedDiscoveryService/';
export const ADS_STREAM = `${ADS}StreamAggregatedResources`;
export const ADS_DELTA = `${ADS}DeltaAggregatedResources`;

const TOGETHER: ReadonlySet<DiscoveryApi> = new Set([EDS, LEDS, RDS, SRDS, SDS]);

/** As the real server, which holds these back while whoever asks for them is made; of others each asks by itself. */
export const isAskedTogether = (api: DiscoveryApi): boolean => TOGETHER.has(api);

export const urlOf = ({ type }: DiscoveryApi): string => `type.googleapis.com/${type}`;
