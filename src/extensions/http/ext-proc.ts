// envoy.filters.http.ext_proc
import type {
  envoy_extensions_filters_http_ext_proc_v3_ExternalProcessor as Message,
  envoy_extensions_filters_http_ext_proc_v3_ExtProcOverrides as Overrides,
  envoy_extensions_filters_http_ext_proc_v3_ExtProcPerRoute as PerRoute,
  envoy_extensions_filters_http_ext_proc_v3_HeaderForwardingRules as ForwardRules,
  envoy_extensions_filters_http_ext_proc_v3_MetadataOptions as MetadataOptions,
  envoy_extensions_filters_http_ext_proc_v3_MetadataOptions_MetadataNamespaces as Namespaces,
  envoy_extensions_filters_http_ext_proc_v3_ProcessingMode as ModeMessage,
} from '../../../build/messages.gen.js';
import { compileDataService, compileHeaderValues } from '../../plan/calls/data-service.js';
import { type CompileContext, defineHttpFilter } from '../../plan/extension.js';
import { compileMutationRules } from '../../plan/match/mutation-rules.js';
import { compileAttributes } from '../../plan/match/attributes.js';
import { compileStringList } from '../../plan/match/string-list.js';
import { errorStatus } from '../../plan/message/error-status.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { checkResponseProcessor, compileHttpProcessor, compileModifier } from './ext-proc-parts.js';
import {
  ExtProc_RouteCache,
  ProcessingMode_Body,
  ProcessingMode_Head,
  type ExtProc,
  type ExtProcRoute,
  type ProcessingMode,
  type ProcessingNamespaces,
  type StringMatches,
} from '../../plan/plan.gen.js';
import { nameOr } from '../../plan/message/open-enum.js';

const PACKAGE = 'envoy.extensions.filters.http.ext_proc.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.ExternalProcessor`, [
  'grpc_service',
  'http_service',
  'failure_mode_allow',
  'processing_mode',
  'request_attributes',
  'response_attributes',
  'message_timeout',
  'stat_prefix',
  'mutation_rules',
  'max_message_timeout',
  'forward_rules',
  'filter_metadata',
  'allow_mode_override',
  'disable_immediate_response',
  'metadata_options',
  'observability_mode',
  'disable_clear_route_cache',
  'route_cache_action',
  'deferred_close_timeout',
  'send_body_without_waiting_for_header_response',
  'allowed_override_modes',
  'status_on_error',
  'allow_content_length_header',
  'emit_client_span',
  'on_processing_response',
  'processing_request_modifier',
]);
const MODE = supportedFields<ModeMessage>(`${PACKAGE}.ProcessingMode`, [
  'request_header_mode',
  'response_header_mode',
  'request_body_mode',
  'response_body_mode',
  'request_trailer_mode',
  'response_trailer_mode',
]);
const FORWARD = supportedFields<ForwardRules>(`${PACKAGE}.HeaderForwardingRules`, [
  'allowed_headers',
  'disallowed_headers',
]);
const METADATA = supportedFields<MetadataOptions>(`${PACKAGE}.MetadataOptions`, [
  'forwarding_namespaces',
  'receiving_namespaces',
  'cluster_metadata_forwarding_namespaces',
]);
const NAMESPACES = supportedFields<Namespaces>(`${PACKAGE}.MetadataOptions.MetadataNamespaces`, [
  'untyped',
  'typed',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.ExtProcPerRoute`, [
  'disabled',
  'overrides',
]);
const OVERRIDES = supportedFields<Overrides>(`${PACKAGE}.ExtProcOverrides`, [
  'processing_mode',
  'async_mode',
  'request_attributes',
  'response_attributes',
  'grpc_service',
  'metadata_options',
  'grpc_initial_metadata',
  'failure_mode_allow',
  'emit_client_span',
  'processing_request_modifier',
]);

const DEFAULT_TIMEOUT_MS = 200;
const DEFAULT_CLOSE_MS = 5000;
const INTERNAL_ERROR = 500;

const HEADS = {
  DEFAULT: ProcessingMode_Head.DEFAULT,
  SEND: ProcessingMode_Head.SEND,
  SKIP: ProcessingMode_Head.SKIP,
} as const;
const BODIES = {
  NONE: ProcessingMode_Body.NONE,
  STREAMED: ProcessingMode_Body.STREAMED,
  BUFFERED: ProcessingMode_Body.BUFFERED,
  BUFFERED_PARTIAL: ProcessingMode_Body.BUFFERED_PARTIAL,
  FULL_DUPLEX_STREAMED: ProcessingMode_Body.FULL_DUPLEX_STREAMED,
  GRPC: ProcessingMode_Body.GRPC,
} as const;
const ROUTE_CACHE = {
  DEFAULT: ExtProc_RouteCache.BY_ANSWER,
  CLEAR: ExtProc_RouteCache.CLEAR,
  RETAIN: ExtProc_RouteCache.RETAIN,
} as const;

export const extProc = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.ext_proc',
  type: FIELDS.type,
  compile: (config, place, context) => ({ ext_proc: compile(config, place, context) }),
  byRoute: {
    type: PER_ROUTE.type,
    compile: (config, place, context) => ({ ext_proc: compileRoute(config, place, context) }),
  },
});

function compile(config: Message, place: Place, context: CompileContext): ExtProc {
  if ((config.grpc_service === undefined) === (config.http_service === undefined)) {
    place.error('One and only one of grpc_service or http_service must be configured', {
      expected: 'one of these two',
    });
  }
  refuseOtherFields(place, config, FIELDS);
  const mode = config.processing_mode ?? {};
  refuseHalfDuplex(mode, place.field('processing_mode'));
  const forward = config.forward_rules ?? {};
  const forwardAt = place.field('forward_rules');
  refuseOtherFields(forwardAt, forward, FORWARD);
  const headers = (field: keyof ForwardRules): StringMatches | undefined =>
    compileStringList(forward[field], forwardAt.field(field));
  const metadata = compileMetadata(config.metadata_options, place.field('metadata_options'));
  checkResponseProcessor(config.on_processing_response, place.field('on_processing_response'));
  const { grpc_service: service, http_service: http } = config;
  if (http) refuseTypedMetadata(config.metadata_options, place.field('metadata_options'));
  return {
    service: service && compileDataService(service, place.field('grpc_service'), context, 0),
    ...(http && !service && compileHttpProcessor(http, config, place)),
    failure_mode_allow: config.failure_mode_allow,
    mode: compileMode(mode, place.field('processing_mode')),
    request_attributes: compileAttributes(
      config.request_attributes,
      place.field('request_attributes'),
    ),
    response_attributes: compileAttributes(
      config.response_attributes,
      place.field('response_attributes'),
    ),
    message_timeout_ms: wholeMs(config.message_timeout, DEFAULT_TIMEOUT_MS),
    max_message_timeout_ms: wholeMs(config.max_message_timeout, 0),
    stat_prefix: config.stat_prefix,
    rules: compileMutationRules(config.mutation_rules ?? {}, place.field('mutation_rules')),
    allowed_headers: headers('allowed_headers'),
    disallowed_headers: headers('disallowed_headers'),
    allow_mode_override: config.allow_mode_override,
    allowed_override_modes: (config.allowed_override_modes ?? []).map((one, index) =>
      compileMode(one, place.field('allowed_override_modes').index(index)),
    ),
    disable_immediate_response: config.disable_immediate_response,
    forwarding_namespaces: metadata.forwarding_namespaces?.names,
    receiving_namespaces: metadata.receiving_namespaces?.names,
    cluster_namespaces: metadata.cluster_namespaces?.names,
    forwarding_typed_namespaces: metadata.forwarding_namespaces?.typed,
    cluster_typed_namespaces: metadata.cluster_namespaces?.typed,
    observability_mode: config.observability_mode,
    deferred_close_ms: wholeMs(config.deferred_close_timeout, DEFAULT_CLOSE_MS),
    route_cache: compileRouteCache(config, place),
    send_body_without_waiting: config.send_body_without_waiting_for_header_response,
    status_on_error: errorStatus(config.status_on_error?.code, INTERNAL_ERROR),
    allow_content_length: config.allow_content_length_header,
    attributes: compileModifier(
      config.processing_request_modifier,
      place.field('processing_request_modifier'),
    ),
    hides_calls: config.emit_client_span === false,
  };
}

function compileRoute(config: PerRoute, place: Place, context: CompileContext): ExtProcRoute {
  refuseOtherFields(place, config, PER_ROUTE);
  const { overrides } = config;
  if (!overrides) return { disabled: config.disabled };
  const at = place.field('overrides');
  refuseOtherFields(at, overrides, OVERRIDES);
  for (const name of ['async_mode', 'request_attributes', 'response_attributes'] as const) {
    const value = overrides[name];
    if (Array.isArray(value) ? value.length > 0 : value) {
      at.field(name).warn('has no effect on a route: the real server does nothing with it either');
    }
  }
  const { processing_mode: mode, grpc_service: service } = overrides;
  return {
    mode: mode && compileMode(mode, at.field('processing_mode')),
    service: service && compileDataService(service, at.field('grpc_service'), context, 0),
    metadata: compileHeaderValues(
      overrides.grpc_initial_metadata,
      at.field('grpc_initial_metadata'),
    ),
    ...compileMetadata(overrides.metadata_options, at.field('metadata_options')),
    failure_mode_allow: overrides.failure_mode_allow,
    attributes: compileModifier(
      overrides.processing_request_modifier,
      at.field('processing_request_modifier'),
    ),
    hides_calls: overrides.emit_client_span === undefined ? undefined : !overrides.emit_client_span,
  };
}

function compileMode(mode: ModeMessage, place: Place): ProcessingMode {
  refuseOtherFields(place, mode, MODE);
  return {
    request_head: HEADS[mode.request_header_mode ?? 'DEFAULT'],
    response_head: HEADS[mode.response_header_mode ?? 'DEFAULT'],
    request_body: BODIES[mode.request_body_mode ?? 'NONE'],
    response_body: BODIES[mode.response_body_mode ?? 'NONE'],
    request_trailers: HEADS[mode.request_trailer_mode ?? 'DEFAULT'],
    response_trailers: HEADS[mode.response_trailer_mode ?? 'DEFAULT'],
  };
}

/** Where bodies go both ways at once, only trailers may end them. */
function refuseHalfDuplex(mode: ModeMessage, place: Place): void {
  for (const side of ['request', 'response'] as const) {
    if (mode[`${side}_body_mode`] !== 'FULL_DUPLEX_STREAMED') continue;
    if (mode[`${side}_trailer_mode`] === 'SEND') continue;
    place
      .field(`${side}_trailer_mode`)
      .error(
        `If the ext_proc filter has the ${side}_body_mode set to FULL_DUPLEX_STREAMED, then the ${side}_trailer_mode has to be set to SEND`,
        { expected: 'SEND' },
      );
  }
}

function compileRouteCache(config: Message, place: Place): ExtProc_RouteCache {
  const action = nameOr(config.route_cache_action, 'DEFAULT');
  if (!config.disable_clear_route_cache) return ROUTE_CACHE[action];
  if (action !== 'DEFAULT') {
    place
      .field('route_cache_action')
      .error(
        'disable_clear_route_cache and route_cache_action can not be set to none-default at the same time.',
        { expected: 'one of these two', related: place.field('disable_clear_route_cache') },
      );
  }
  return ExtProc_RouteCache.RETAIN;
}

/** In JSON they would have to be what their types say. */
function refuseTypedMetadata(options: MetadataOptions | undefined, place: Place): void {
  for (const field of [
    'forwarding_namespaces',
    'cluster_metadata_forwarding_namespaces',
  ] as const) {
    if ((options?.[field]?.typed ?? []).length === 0) continue;
    place.field(field).field('typed').error('typed is not supported with an http_service');
  }
}

function compileMetadata(
  options: MetadataOptions | undefined,
  place: Place,
): Pick<ExtProcRoute, 'forwarding_namespaces' | 'receiving_namespaces' | 'cluster_namespaces'> {
  if (!options) return {};
  refuseOtherFields(place, options, METADATA);
  const names = (field: keyof MetadataOptions): ProcessingNamespaces | undefined => {
    const namespaces = options[field];
    if (!namespaces) return undefined;
    const at = place.field(field);
    refuseOtherFields(at, namespaces, NAMESPACES);
    const { typed = [], untyped = [] } = namespaces;
    if (field === 'receiving_namespaces' && typed.length > 0) {
      at.field('typed').warn('has no effect: the real server takes none either');
    }
    return { names: untyped, typed };
  };
  return {
    forwarding_namespaces: names('forwarding_namespaces'),
    receiving_namespaces: names('receiving_namespaces'),
    cluster_namespaces: names('cluster_metadata_forwarding_namespaces'),
  };
}
