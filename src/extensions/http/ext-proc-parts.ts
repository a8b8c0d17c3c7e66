// What an external processor is, beside its filter: a service of HTTP, and the extensions that may change
// what it is told and keep what it says.
import type {
  envoy_config_core_v3_HttpService as HttpService,
  envoy_config_core_v3_HttpUri as HttpUri,
  envoy_config_core_v3_TypedExtensionConfig as TypedConfig,
  envoy_extensions_filters_http_ext_proc_v3_ExtProcHttpService as ExtProcHttpService,
  envoy_extensions_filters_http_ext_proc_v3_ExternalProcessor as Message,
  envoy_extensions_filters_http_ext_proc_v3_ProcessingMode as ModeMessage,
  envoy_extensions_http_ext_proc_processing_request_modifiers_mapped_attribute_builder_v3_MappedAttributeBuilder as Mapped,
  envoy_extensions_http_ext_proc_response_processors_save_processing_response_v3_SaveProcessingResponse as Saved,
  envoy_extensions_http_ext_proc_response_processors_save_processing_response_v3_SaveProcessingResponse_SaveOptions as SaveOptions,
} from '../../../build/messages.gen.js';
import { compileAttributes } from '../../plan/match/attributes.js';
import { wholeMs } from '../../plan/message/numbers.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { ExtProc, ProcessingAttribute, ProcessingAttributes } from '../../plan/plan.gen.js';
import { compileAddition } from '../../plan/route/header-mutations.js';

const HTTP = supportedFields<ExtProcHttpService>(
  'envoy.extensions.filters.http.ext_proc.v3.ExtProcHttpService',
  ['http_service'],
);
const SERVICE = supportedFields<HttpService>('envoy.config.core.v3.HttpService', [
  'http_uri',
  'request_headers_to_add',
]);
const URI = supportedFields<HttpUri>('envoy.config.core.v3.HttpUri', ['uri', 'cluster', 'timeout']);
const MAPPED = supportedFields<Mapped>(
  'envoy.extensions.http.ext_proc.processing_request_modifiers.mapped_attribute_builder.v3.MappedAttributeBuilder',
  ['mapped_request_attributes', 'mapped_response_attributes'],
);
const SAVED = supportedFields<Saved>(
  'envoy.extensions.http.ext_proc.response_processors.save_processing_response.v3.SaveProcessingResponse',
  [
    'filter_state_name_suffix',
    'save_request_headers',
    'save_response_headers',
    'save_request_trailers',
    'save_response_trailers',
    'save_immediate_response',
  ],
);
const SAVE = supportedFields<SaveOptions>(`${SAVED.type}.SaveOptions`, [
  'save_response',
  'save_on_error',
]);

/** Heads are all that such a service is told. */
export function compileHttpProcessor(
  message: ExtProcHttpService,
  { processing_mode: mode = {} }: Message,
  place: Place,
): Pick<ExtProc, 'service' | 'http'> {
  const at = place.field('http_service');
  refuseBodies(mode, place.field('processing_mode'));
  refuseOtherFields(at, message, HTTP);
  const { http_service: service = {} } = message;
  const inner = at.field('http_service');
  refuseOtherFields(inner, service, SERVICE);
  const { http_uri: uri = {} } = service;
  refuseOtherFields(inner.field('http_uri'), uri, URI);
  const { host, path } = hostAndPath(uri.uri ?? '');
  const headersAt = inner.field('request_headers_to_add');
  return {
    service: {
      cluster: uri.cluster,
      timeout_ms: wholeMs(uri.timeout, 0),
      authority: host,
      metadata: (service.request_headers_to_add ?? []).flatMap(
        (option, index) => compileAddition(option, headersAt.index(index)) ?? [],
      ),
    },
    http: { path },
  };
}

function refuseBodies(mode: ModeMessage, place: Place): void {
  const isTold =
    (mode.request_body_mode ?? 'NONE') !== 'NONE' ||
    (mode.response_body_mode ?? 'NONE') !== 'NONE' ||
    mode.request_trailer_mode === 'SEND' ||
    mode.response_trailer_mode === 'SEND';
  if (!isTold) return;
  place.error(
    'If the ext_proc filter is configured with http_service instead of gRPC service, then the processing modes of this filter can not be configured to send body or trailer.',
    { expected: 'heads alone, or a grpc_service' },
  );
}

/** Without a slash all of it is a host. */
function hostAndPath(uri: string): { readonly host: string; readonly path: string } {
  const scheme = uri.indexOf('://');
  const begin = scheme < 0 ? 0 : scheme + 3;
  const slash = uri.indexOf('/', begin);
  return slash < 0
    ? { host: uri.slice(begin), path: '/' }
    : { host: uri.slice(begin, slash), path: uri.slice(slash) };
}

/** What is told in place of attributes. */
export function compileModifier(
  message: TypedConfig | undefined,
  place: Place,
): ProcessingAttributes | undefined {
  if (!message) return undefined;
  const at = place.field('typed_config');
  const { typed_config: config } = message;
  if (config?.$type !== MAPPED.type) {
    refuseUnknown(message, place, MAPPED.type);
    return undefined;
  }
  const mapped = config as Mapped;
  refuseOtherFields(at, mapped, MAPPED);
  const attributes = (field: keyof Mapped): ProcessingAttribute[] =>
    Object.entries(mapped[field] ?? {}).flatMap(([name, expression]) =>
      compileAttributes([expression], at.field(field).key(name)).map((one) => ({ ...one, name })),
    );
  return {
    request: attributes('mapped_request_attributes'),
    response: attributes('mapped_response_attributes'),
  };
}

/** What was said is kept where only code that is linked in could find it: nothing follows for others. */
export function checkResponseProcessor(message: TypedConfig | undefined, place: Place): void {
  if (!message) return;
  const { typed_config: config } = message;
  if (config?.$type !== SAVED.type) {
    refuseUnknown(message, place, SAVED.type);
    return;
  }
  const saved = config as Saved;
  const at = place.field('typed_config');
  refuseOtherFields(at, saved, SAVED);
  for (const [name, options] of Object.entries(saved)) {
    if (name.startsWith('save_')) refuseOtherFields(at.field(name), options as SaveOptions, SAVE);
  }
}

function refuseUnknown(
  { name = '', typed_config: config }: TypedConfig,
  place: Place,
  expected: string,
): void {
  place.error(
    `Didn't find a registered implementation for '${name}' with type URL: '${config?.$type ?? ''}'`,
    { expected },
  );
}
