// What extensions become, by what they extend: types only.
import type {
  envoy_config_core_v3_Http1ProtocolOptions as Http1Options,
  envoy_config_core_v3_Http2ProtocolOptions as Http2Options,
  envoy_config_core_v3_HttpProtocolOptions as CommonHttpOptions,
  envoy_config_core_v3_UpstreamHttpProtocolOptions as SniOptions,
} from '../../build/messages.gen.js';
import type { ReadFormat } from './format/read-format.js';
import type { Place } from './message/place.js';
import type {
  AccessLog,
  CacheFilter,
  Cluster,
  Cluster_Protocol,
  FilterChain,
  HashPolicy,
  HttpFilter,
  ListenerFilter,
  RequestRules,
  Router,
  SinkFormat,
  WatchdogAction,
} from './plan.gen.js';
import type { HttpServicePlan } from './http-service.js';
import type { GrpcServicePlan } from './service-plan.js';

/** What a listener filter becomes. */
export type ListenerFilterPlan = Omit<ListenerFilter, 'disabled'>;

/** What a network filter becomes: the member of the chain that names it. */
export type NetworkFilterPlan = Omit<FilterChain, 'name' | 'match' | 'is_default'>;

/**
 * What an HTTP filter becomes: the router ends the chain and is a member of the connection manager's
 * plan, all others are members of a filter's.
 */
export type HttpFilterPlan = { readonly router: Router } | Omit<HttpFilter, 'disabled'>;

/** What is done when a thread is away for long. */
export type WatchdogActionPlan = Omit<WatchdogAction, 'event'>;

/** How lines read. */
export type LogFormat = ReadFormat;

/** Where a logger writes, and what: lines to a file, or entries to a service. */
export type LogTarget =
  { readonly path: string; readonly format: LogFormat } | Pick<AccessLog, 'grpc' | 'otel'>;

/** Where a cache has its answers. */
export type CacheStore = Pick<CacheFilter, 'memory'> | Pick<CacheFilter, 'files'>;

/** What a cluster says of HTTP, in the extension's message or in its own older fields. */
export interface UpstreamHttpOptions {
  readonly common: CommonHttpOptions | undefined;
  readonly commonPlace: Place;
  readonly http1: Http1Options | undefined;
  readonly http1Place: Place;
  /** What is spoken with its hosts. */
  readonly protocol: Cluster_Protocol;
  /** Set: HTTP/2 may be spoken. */
  readonly http2: Http2Options | undefined;
  readonly http2Place: Place;
  /** Whom hosts are asked for over TLS. */
  readonly sni: SniOptions | undefined;
  readonly sniPlace: Place;
  /** What becomes of requests, whatever their routes say; absent: that alone. */
  readonly rules?: RequestRules | undefined;
}

/** The settings of a balancer within a cluster's plan. */
export type BalancerPlan = Pick<
  Cluster,
  | 'balancer'
  | 'least_request_choices'
  | 'least_request_full_scan'
  | 'request_bias_millionths'
  | 'request_bias_slot'
  | 'slow_start'
  | 'weighs_localities'
  | 'fails_in_panic'
  | 'zones'
  | 'hash_table'
  | 'subsets'
  | 'load_weights'
  | 'load_questions'
  | 'locality_loads'
  | 'host_overrides'
> & {
  /** What hashes are made of, whatever routes and the cluster say; absent: as they say. */
  readonly hashPolicies?: readonly HashPolicy[];
};

/** What a resource monitor looks at. Numbers are above 0. */
export type MonitorPlan =
  | { readonly kind: 'heap'; readonly maxBytes: number; readonly runtimeKey: string | undefined }
  /** `maxBytes`: less than the cgroup's own limit; undefined: that. */
  | { readonly kind: 'cgroup-memory'; readonly maxBytes: number | undefined }
  | { readonly kind: 'cpu'; readonly of: 'host' | 'container' }
  | { readonly kind: 'connections'; readonly max: number }
  | { readonly kind: 'injected'; readonly file: string };

/** Where statistics are sent, as the configuration has it. */
export type SinkPlan =
  /** Lines that the data plane sends as datagrams itself. */
  | { readonly kind: 'datagrams'; readonly format: SinkFormat }
  /** Lines over a connection to the cluster. */
  | { readonly kind: 'lines'; readonly format: SinkFormat; readonly cluster: string }
  /** envoy.service.metrics.v3.MetricsService */
  | {
      readonly kind: 'metrics';
      readonly format: SinkFormat;
      readonly service: GrpcServicePlan;
      /** How many metrics a message may have; 0: any number. */
      readonly batchSize: number;
    }
  /** opentelemetry.proto.collector.metrics.v1.MetricsService */
  | {
      readonly kind: 'otlp';
      readonly format: SinkFormat;
      readonly collector: OtlpCollector;
      /** Of the resource. */
      readonly attributes: Readonly<Record<string, string>>;
      readonly prefix: string;
      readonly hasLabels: boolean;
      readonly countersAreDeltas: boolean;
      readonly histogramsAreDeltas: boolean;
      /** How many a request may have; 0: any number. */
      readonly maxPoints: number;
    }
  | { readonly kind: 'hystrix'; readonly buckets: number };

/** Who collects what OpenTelemetry tells. */
export type OtlpCollector =
  | { readonly how: 'grpc'; readonly service: GrpcServicePlan }
  | { readonly how: 'http'; readonly service: HttpServicePlan };
