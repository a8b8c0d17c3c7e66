// What a connection manager does to requests before they are routed, and by which table they are.
import type {
  envoy_config_core_v3_TypedExtensionConfig as TypedExtension,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpConnectionManager as HcmConfig,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpConnectionManager_ForwardClientCertConfig as CertAction,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpConnectionManager_SetCurrentClientCertDetails as CertDetails,
  envoy_extensions_http_early_header_mutation_header_mutation_v3_HeaderMutation as EarlyMutation,
  envoy_extensions_http_original_ip_detection_custom_header_v3_CustomHeaderConfig as CustomHeader,
  envoy_extensions_http_original_ip_detection_xff_v3_XffConfig as Xff,
  envoy_extensions_request_id_uuid_v3_UuidRequestIdConfig as UuidConfig,
} from '../../../build/messages.gen.js';
import { compileCidrRanges } from '../../plan/address/address.js';
import type { CompileContext } from '../../plan/extension.js';
import { unregistered } from '../../plan/known-extensions.js';
import { compileHttpTree } from '../../plan/match/http-tree.js';
import type { Place } from '../../plan/message/place.js';
import { errorStatus } from '../../plan/message/error-status.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import {
  ClientCertDetails_Form,
  HttpConnectionManager_ForwardClientCert as ForwardClientCert,
  type ClientCertAction,
  type ClientCertDetails,
  type ClientCertTree,
  type HeaderChange,
  type HttpConnectionManager,
  type IpDetection,
} from '../../plan/plan.gen.js';
import { compileHeaderChanges } from '../../plan/route/header-changes.js';

const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3';
const EARLY = 'envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation';
const DETECTION = 'envoy.extensions.http.original_ip_detection';
const CERT_DETAILS = supportedFields<CertDetails>(
  `${HCM}.HttpConnectionManager.SetCurrentClientCertDetails`,
  ['subject', 'cert', 'chain', 'dns', 'uri', 'issuer', 'format'],
);
const FORMS = { TEXT: ClientCertDetails_Form.TEXT, JSON: ClientCertDetails_Form.JSON } as const;
const CERT_ACTION = supportedFields<CertAction>(
  `${HCM}.HttpConnectionManager.ForwardClientCertConfig`,
  ['forward_client_cert_details', 'set_current_client_cert_details'],
);
const UUID = supportedFields<UuidConfig>(
  'envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig',
  ['pack_trace_reason', 'use_request_id_for_trace_sampling'],
);
const XFF = supportedFields<Xff>(`${DETECTION}.xff.v3.XffConfig`, [
  'xff_num_trusted_hops',
  'xff_trusted_cidrs',
  'skip_xff_append',
]);
const CUSTOM_HEADER = supportedFields<CustomHeader>(
  `${DETECTION}.custom_header.v3.CustomHeaderConfig`,
  ['header_name', 'allow_extension_to_set_address_as_trusted', 'reject_with_status'],
);
const FORBIDDEN = 403;

export function compileRequestParts(
  config: HcmConfig,
  place: Place,
  context: CompileContext,
): Partial<HttpConnectionManager> {
  checkRequestId(config, place.field('request_id_extension'));
  return {
    early_changes: compileEarly(
      config.early_header_mutation_extensions ?? [],
      place.field('early_header_mutation_extensions'),
    ),
    ip_detections: compileDetections(config, place.field('original_ip_detection_extensions')),
    client_cert_tree: compileCertTree(config, place.field('forward_client_cert_matcher'), context),
  };
}

// How ids are made and read for traces is tracing's.
function checkRequestId({ request_id_extension: extension }: HcmConfig, place: Place): void {
  const config = extension?.typed_config;
  if (!config) return;
  const at = place.field('typed_config');
  if (config.$type === UUID.type) refuseOtherFields(at.within(UUID.type), config, UUID);
  else at.error(unregistered('', config.$type), { expected: UUID.type });
}

function compileEarly(extensions: readonly TypedExtension[], place: Place): HeaderChange[] {
  return extensions.flatMap(({ name = '', typed_config: config }, index) => {
    const at = place.index(index).field('typed_config');
    if (config?.$type === EARLY) {
      const { mutations } = config as EarlyMutation;
      return [...compileHeaderChanges(mutations, at.within(EARLY).field('mutations'))];
    }
    at.error(unregistered(name, config?.$type ?? ''), { expected: EARLY });
    return [];
  });
}

function compileDetections(config: HcmConfig, place: Place): IpDetection[] {
  const extensions = config.original_ip_detection_extensions ?? [];
  if (extensions.length > 0 && config.use_remote_address) {
    place.error('Original IP detection extensions and use_remote_address may not be mixed');
  }
  if (extensions.length > 0 && (config.xff_num_trusted_hops ?? 0) > 0) {
    place.error('Original IP detection extensions and xff_num_trusted_hops may not be mixed');
  }
  return extensions.flatMap(
    (extension, index) => compileDetection(extension, place.index(index)) ?? [],
  );
}

function compileDetection(
  { name = '', typed_config: config }: TypedExtension,
  place: Place,
): IpDetection | undefined {
  const at = place.field('typed_config');
  if (config?.$type === CUSTOM_HEADER.type) {
    const message = config as CustomHeader;
    refuseOtherFields(at.within(CUSTOM_HEADER.type), message, CUSTOM_HEADER);
    const rejection = message.reject_with_status;
    return {
      header: message.header_name?.toLowerCase(),
      is_trusted: message.allow_extension_to_set_address_as_trusted,
      reject_status: rejection && errorStatus(rejection.code, FORBIDDEN),
    };
  }
  if (config?.$type === XFF.type) {
    const message = config as Xff;
    const inner = at.within(XFF.type);
    refuseOtherFields(inner, message, XFF);
    if (message.xff_trusted_cidrs && (message.xff_num_trusted_hops ?? 0) > 0) {
      inner.error('Cannot set both xff_num_trusted_hops and xff_trusted_cidrs');
    }
    return {
      trusted_hops: message.xff_num_trusted_hops,
      trusted: compileCidrRanges(
        message.xff_trusted_cidrs?.cidrs,
        inner.field('xff_trusted_cidrs').field('cidrs'),
      ),
      skips_append: message.skip_xff_append ?? true,
    };
  }
  at.error(unregistered(name, config?.$type ?? ''), {
    expected: `${XFF.type} or ${CUSTOM_HEADER.type}`,
  });
  return undefined;
}

export function compileCertDetails(
  message: CertDetails | undefined,
  place: Place,
): ClientCertDetails | undefined {
  if (!message) return undefined;
  refuseOtherFields(place, message, CERT_DETAILS);
  const { subject, cert, chain, dns, uri, issuer } = message;
  const form = named(message.format ?? 'TEXT', place.field('format'));
  return { subject, cert, chain, dns, uri, issuer, form: form && FORMS[form] };
}

/** Numbers without names, which these enums take and nothing understands: the real server aborts. */
function named<T extends string>(value: T | number, place: Place): T | undefined {
  if (typeof value === 'string') return value;
  place.error(`${value} is no value of it`);
  return undefined;
}

function compileCertTree(
  { forward_client_cert_matcher: matcher }: HcmConfig,
  place: Place,
  { runtime }: CompileContext,
): ClientCertTree | undefined {
  if (!matcher) return undefined;
  const actions: ClientCertAction[] = [];
  const tree = compileHttpTree(matcher, place, runtime, (config, name, at) => {
    if (config.$type !== CERT_ACTION.type) {
      at.error(unregistered(name, config.$type), { expected: CERT_ACTION.type });
      return undefined;
    }
    const inner = at.within(CERT_ACTION.type);
    refuseOtherFields(inner, config, CERT_ACTION);
    const message = config as CertAction;
    const forward = named(
      message.forward_client_cert_details ?? 'SANITIZE',
      inner.field('forward_client_cert_details'),
    );
    return (
      actions.push({
        forward: forward && ForwardClientCert[forward],
        details: compileCertDetails(
          message.set_current_client_cert_details,
          inner.field('set_current_client_cert_details'),
        ),
      }) - 1
    );
  });
  return { tree, actions };
}
