// What a connection manager and its routes say of tracing.
import type {
  envoy_config_route_v3_Decorator as DecoratorMessage,
  envoy_config_route_v3_Tracing as RouteTracingMessage,
  envoy_config_trace_v3_Tracing_Http as Provider,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpConnectionManager_Tracing as TracingMessage,
  envoy_type_v3_Percent as Percent,
} from '../../../build/messages.gen.js';
import { findExtension, type CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Decorator, RouteTracing, Share, Tracing, TraceSampling } from '../plan.gen.js';
import type { FractionalPercent } from '../runtime/runtime.js';
import { compileCustomTags, compileSpanFormat } from './custom-tags.js';

const TRACING = supportedFields<TracingMessage>(
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing',
  [
    'client_sampling',
    'random_sampling',
    'overall_sampling',
    'verbose',
    'max_path_tag_length',
    'custom_tags',
    'provider',
    'spawn_upstream_span',
    'operation',
    'upstream_operation',
    'no_context_propagation',
  ],
);
const ROUTE = supportedFields<RouteTracingMessage>('envoy.config.route.v3.Tracing', [
  'client_sampling',
  'random_sampling',
  'overall_sampling',
  'custom_tags',
  'operation',
  'upstream_operation',
]);
const DECORATOR = supportedFields<DecoratorMessage>('envoy.config.route.v3.Decorator', [
  'operation',
  'propagate',
]);
const PROVIDER = supportedFields<Provider>('envoy.config.trace.v3.Tracing.Http', [
  'name',
  'typed_config',
]);

const DEFAULT_PATH_BYTES = 256;
const KEYS = {
  client: 'tracing.client_enabled',
  random: 'tracing.random_sampling',
  overall: 'tracing.global_enabled',
} as const;

/** Undefined: nobody is told of spans, so that there are none; or an error. */
export function compileTracing(
  message: TracingMessage,
  place: Place,
  context: CompileContext,
): Tracing | undefined {
  refuseOtherFields(place, message, TRACING);
  const own = message.provider && { message: message.provider, place: place.field('provider') };
  const provider = own ?? context.defaultTracer;
  const upstream = message.upstream_operation;
  const plan = {
    sampling: compileSampling(
      {
        client: ofPercent(message.client_sampling, 'HUNDRED'),
        random: ofPercent(message.random_sampling, 'TEN_THOUSAND'),
        overall: ofPercent(message.overall_sampling, 'HUNDRED'),
      },
      context,
    ),
    verbose: message.verbose,
    max_path_bytes: message.max_path_tag_length ?? DEFAULT_PATH_BYTES,
    spawns_upstream: message.spawn_upstream_span,
    operation: operationOf(message.operation, place.field('operation')),
    upstream_operation: operationOf(upstream, place.field('upstream_operation')),
    keeps_context: message.no_context_propagation,
    tags: compileCustomTags(message.custom_tags, place.field('custom_tags'), context),
  };
  if (!provider) return undefined;
  refuseOtherFields(provider.place, provider.message, PROVIDER);
  const extension = findExtension(context, 'tracers', provider.message, provider.place);
  const config = provider.message.typed_config;
  const tracer =
    config && extension?.compile(config, provider.place.field('typed_config'), context);
  return tracer && { ...plan, ...tracer.spans, tracer: context.tracers.add(tracer.exporter) };
}

export function compileRouteTracing(
  message: RouteTracingMessage,
  place: Place,
  context: CompileContext,
): RouteTracing {
  refuseOtherFields(place, message, ROUTE);
  const upstream = message.upstream_operation;
  return {
    sampling: compileSampling(
      {
        client: message.client_sampling,
        random: message.random_sampling,
        overall: message.overall_sampling,
      },
      context,
    ),
    tags: compileCustomTags(message.custom_tags, place.field('custom_tags'), context),
    operation: operationOf(message.operation, place.field('operation')),
    upstream_operation: operationOf(upstream, place.field('upstream_operation')),
  };
}

export function compileDecorator(message: DecoratorMessage, place: Place): Decorator {
  refuseOtherFields(place, message, DECORATOR);
  return { operation: message.operation, is_private: message.propagate === false };
}

const operationOf = (text: string | undefined, place: Place): RouteTracing['operation'] =>
  text ? compileSpanFormat(text, place) : undefined;

const ALL: FractionalPercent = { numerator: 100 };

function compileSampling(
  shares: Readonly<Record<keyof typeof KEYS, FractionalPercent | undefined>>,
  { runtime }: Pick<CompileContext, 'runtime'>,
): TraceSampling {
  const shareOf = (which: keyof typeof KEYS): Share => {
    const { value, slot } = runtime.liveMillionths(KEYS[which], shares[which] ?? ALL);
    return { millionths: value, slot };
  };
  return { client: shareOf('client'), random: shareOf('random'), overall: shareOf('overall') };
}

/** As fine as the real server draws. */
function ofPercent(
  percent: Percent | undefined,
  denominator: 'HUNDRED' | 'TEN_THOUSAND',
): FractionalPercent | undefined {
  if (!percent) return undefined;
  const per = denominator === 'HUNDRED' ? 1 : 100;
  return { numerator: Math.floor((percent.value ?? 0) * per), denominator };
}
