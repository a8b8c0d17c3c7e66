// envoy.filters.http.ext_authz
import type {
  envoy_extensions_filters_http_ext_authz_v3_AuthorizationRequest as AuthorizationRequest,
  envoy_extensions_filters_http_ext_authz_v3_AuthorizationResponse as AuthorizationResponse,
  envoy_extensions_filters_http_ext_authz_v3_BufferSettings as BufferSettings,
  envoy_extensions_filters_http_ext_authz_v3_CheckSettings as CheckSettings,
  envoy_extensions_filters_http_ext_authz_v3_ExtAuthz as Message,
  envoy_extensions_filters_http_ext_authz_v3_ExtAuthzPerRoute as PerRoute,
  envoy_extensions_filters_http_ext_authz_v3_HttpService as HttpService,
} from '../../../build/messages.gen.js';
import { type CompileContext, defineHttpFilter } from '../../plan/extension.js';
import { compileDataService, compileHttpDataService } from '../../plan/calls/data-service.js';
import { compileLabels } from '../../plan/calls/labels.js';
import { compileMutationRules } from '../../plan/match/mutation-rules.js';
import { compileMetadataMatcher } from '../../plan/match/metadata.js';
import { compileStringList } from '../../plan/match/string-list.js';
import { errorStatus } from '../../plan/message/error-status.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  RbacCondition_Kind,
  type ExtAuthz,
  type ExtAuthzBody,
  type ExtAuthzHttp,
  type ExtAuthzRoute,
  type ExtAuthzService,
  type TextPair,
} from '../../plan/plan.gen.js';
import { compileShare } from '../../plan/runtime/shares.js';

const PACKAGE = 'envoy.extensions.filters.http.ext_authz.v3';
const FIELDS = supportedFields<Message>(`${PACKAGE}.ExtAuthz`, [
  'grpc_service',
  'http_service',
  'failure_mode_allow',
  'failure_mode_allow_header_add',
  'with_request_body',
  'clear_route_cache',
  'status_on_error',
  'metadata_context_namespaces',
  'filter_enabled',
  'filter_enabled_metadata',
  'include_peer_certificate',
  'include_tls_session',
  'deny_at_disable',
  'transport_api_version',
  'stat_prefix',
  'bootstrap_metadata_labels_key',
  'allowed_headers',
  'disallowed_headers',
  'charge_cluster_response_stats',
  'encode_raw_headers',
  'validate_mutations',
  'decoder_header_mutation_rules',
  'enable_dynamic_metadata_ingestion',
  'max_denied_response_body_bytes',
  'shadow_mode',
  'route_metadata_context_namespaces',
  'clear_route_cache_headers',
  'typed_metadata_context_namespaces',
  'route_typed_metadata_context_namespaces',
  'filter_metadata',
  'emit_filter_state_stats',
  'enforce_response_header_limits',
  'emit_client_span',
]);
const HTTP = supportedFields<HttpService>(`${PACKAGE}.HttpService`, [
  'server_uri',
  'path_prefix',
  'path_override',
  'authorization_request',
  'authorization_response',
  'retry_policy',
]);
const REQUEST = supportedFields<AuthorizationRequest>(`${PACKAGE}.AuthorizationRequest`, [
  'allowed_headers',
  'headers_to_add',
]);
const RESPONSE = supportedFields<AuthorizationResponse>(`${PACKAGE}.AuthorizationResponse`, [
  'allowed_upstream_headers',
  'allowed_client_headers',
  'allowed_upstream_headers_to_append',
  'allowed_client_headers_on_success',
  'dynamic_metadata_from_headers',
]);
const BODY = supportedFields<BufferSettings>(`${PACKAGE}.BufferSettings`, [
  'max_request_bytes',
  'allow_partial_message',
  'pack_as_bytes',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${PACKAGE}.ExtAuthzPerRoute`, [
  'disabled',
  'check_settings',
]);
const CHECK = supportedFields<CheckSettings>(`${PACKAGE}.CheckSettings`, [
  'context_extensions',
  'disable_request_body_buffering',
  'with_request_body',
  'grpc_service',
  'http_service',
  'emit_client_span',
]);

const DEFAULT_TIMEOUT_MS = 200;
const FORBIDDEN = 403;

export const extAuthz = defineHttpFilter<Message, PerRoute>({
  name: 'envoy.filters.http.ext_authz',
  type: FIELDS.type,
  compile: (config, place, context) => ({ ext_authz: compile(config, place, context) }),
  byRoute: {
    type: PER_ROUTE.type,
    compile: (config, place, context) => ({ ext_authz: compileRoute(config, place, context) }),
  },
});

function compile(config: Message, place: Place, context: CompileContext): ExtAuthz {
  refuseOtherFields(place, config, FIELDS);
  if (config.transport_api_version === 'V2') {
    place.field('transport_api_version').error('V2 xDS transport protocol version is deprecated', {
      expected: 'V3',
    });
  }
  const inRequest = config.http_service?.authorization_request?.allowed_headers;
  if (inRequest && config.allowed_headers) {
    place.field('allowed_headers').error('Invalid duplicate configuration for allowed_headers.', {
      expected: 'one of these two',
      related: place.field('http_service').field('authorization_request').field('allowed_headers'),
    });
  }
  const { filter_enabled_metadata: metadata, deny_at_disable: deny } = config;
  return {
    service: compileService(config, place, context),
    failure_mode_allow: config.failure_mode_allow,
    failure_mode_allow_header_add: config.failure_mode_allow_header_add,
    body: compileBody(config.with_request_body, place.field('with_request_body')),
    clear_route_cache: config.clear_route_cache,
    clear_route_headers: (config.clear_route_cache_headers ?? []).map((name) => name.toLowerCase()),
    status_on_error: errorStatus(config.status_on_error?.code, FORBIDDEN),
    metadata_namespaces: config.metadata_context_namespaces,
    route_metadata_namespaces: config.route_metadata_context_namespaces,
    typed_metadata_namespaces: config.typed_metadata_context_namespaces,
    route_typed_metadata_namespaces: config.route_typed_metadata_context_namespaces,
    // What the metadata say only code that is linked in could ask for.
    has_filter_state: config.emit_filter_state_stats || config.filter_metadata !== undefined,
    tells_figures: config.emit_filter_state_stats,
    limits_response_headers: config.enforce_response_header_limits,
    hides_calls: config.emit_client_span === false,
    enabled: compileShare(config.filter_enabled, context),
    enabled_metadata: metadata && {
      kind: RbacCondition_Kind.METADATA,
      metadata: compileMetadataMatcher(metadata, place.field('filter_enabled_metadata')),
    },
    include_peer_certificate: config.include_peer_certificate,
    include_tls_session: config.include_tls_session,
    deny_at_disable:
      deny && context.runtime.liveFlag(deny.runtime_key, deny.default_value ?? false),
    stat_prefix: config.stat_prefix,
    charge_cluster: config.charge_cluster_response_stats ?? true,
    allowed_headers: compileStringList(config.allowed_headers, place.field('allowed_headers')),
    disallowed_headers: compileStringList(
      config.disallowed_headers,
      place.field('disallowed_headers'),
    ),
    raw_headers: config.encode_raw_headers,
    validate_mutations: config.validate_mutations,
    rules: compileMutationRules(
      config.decoder_header_mutation_rules,
      place.field('decoder_header_mutation_rules'),
    ),
    takes_metadata: config.enable_dynamic_metadata_ingestion ?? true,
    max_denied_body_bytes: config.max_denied_response_body_bytes,
    shadow_mode: config.shadow_mode,
    labels: compileLabels(config.bootstrap_metadata_labels_key, context),
  };
}

function compileRoute(config: PerRoute, place: Place, context: CompileContext): ExtAuthzRoute {
  refuseOtherFields(place, config, PER_ROUTE);
  const { check_settings: check } = config;
  if (!check) return { disabled: config.disabled };
  const at = place.field('check_settings');
  refuseOtherFields(at, check, CHECK);
  if (check.disable_request_body_buffering && check.with_request_body) {
    at.field('with_request_body').error(
      'Invalid configuration for check_settings. Only one of disable_request_body_buffering or ' +
        'with_request_body can be set.',
    );
  }
  return {
    disabled: config.disabled,
    context_extensions: pairs(check.context_extensions),
    disable_body: check.disable_request_body_buffering,
    body: compileBody(check.with_request_body, at.field('with_request_body')),
    service:
      check.grpc_service || check.http_service ? compileService(check, at, context) : undefined,
    hides_calls: check.emit_client_span === undefined ? undefined : !check.emit_client_span,
  };
}

function compileBody(message: BufferSettings | undefined, place: Place): ExtAuthzBody | undefined {
  if (!message) return undefined;
  refuseOtherFields(place, message, BODY);
  return {
    max_bytes: message.max_request_bytes,
    allow_partial: message.allow_partial_message,
    as_bytes: message.pack_as_bytes,
  };
}

function compileService(
  config: Pick<Message, 'grpc_service' | 'http_service'>,
  place: Place,
  context: CompileContext,
): ExtAuthzService | undefined {
  if (config.grpc_service) {
    const service = compileDataService(
      config.grpc_service,
      place.field('grpc_service'),
      context,
      DEFAULT_TIMEOUT_MS,
    );
    return service && { service };
  }
  return compileHttpService(config.http_service ?? {}, place.field('http_service'));
}

function compileHttpService(config: HttpService, place: Place): ExtAuthzService {
  refuseOtherFields(place, config, HTTP);
  const { authorization_request: request = {}, authorization_response: response = {} } = config;
  const requestPlace = place.field('authorization_request');
  refuseOtherFields(requestPlace, request, REQUEST);
  const service = compileHttpDataService(config.server_uri ?? {}, place.field('server_uri'), {
    headers: request.headers_to_add,
    headersPlace: requestPlace.field('headers_to_add'),
    retry: config.retry_policy,
    retryPlace: place.field('retry_policy'),
  });
  const http: ExtAuthzHttp = {
    ...compilePaths(config, place),
    allowed_headers: compileStringList(
      request.allowed_headers,
      requestPlace.field('allowed_headers'),
    ),
    ...compileResponse(response, place.field('authorization_response')),
  };
  return { service, http };
}

function compilePaths(
  { path_prefix: prefix = '', path_override: override = '' }: HttpService,
  place: Place,
): Pick<ExtAuthzHttp, 'path_prefix' | 'path_override'> {
  if (prefix !== '' && override !== '') {
    place
      .field('path_override')
      .error('Only one of path_prefix or path_override may be set, not both.');
  }
  const check = (path: string, field: string): void => {
    if (path !== '' && !path.startsWith('/')) {
      place.field(field).error(`${field} should start with "/".`);
    }
  };
  check(prefix, 'path_prefix');
  check(override, 'path_override');
  return { path_prefix: prefix, path_override: override };
}

function compileResponse(config: AuthorizationResponse, place: Place): Partial<ExtAuthzHttp> {
  refuseOtherFields(place, config, RESPONSE);
  const list = (field: keyof AuthorizationResponse): ReturnType<typeof compileStringList> =>
    compileStringList(config[field], place.field(field));
  return {
    upstream_headers: list('allowed_upstream_headers'),
    upstream_append_headers: list('allowed_upstream_headers_to_append'),
    client_headers: list('allowed_client_headers'),
    client_headers_on_success: list('allowed_client_headers_on_success'),
    metadata_headers: list('dynamic_metadata_from_headers'),
  };
}

const pairs = (map: Readonly<Record<string, string>> | undefined): TextPair[] =>
  Object.entries(map ?? {}).map(([key, value]) => ({ key, value }));
