// A service that the data plane itself asks through a cluster: of gRPC (GrpcService), or of HTTP.
import type {
  envoy_config_core_v3_GrpcService as GrpcService,
  envoy_config_core_v3_HeaderValue as HeaderValue,
  envoy_config_core_v3_HttpUri as HttpUri,
  envoy_config_core_v3_RetryPolicy as RetryPolicy,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { wholeMs } from '../message/numbers.js';
import {
  HeaderAddition_Action,
  type HeaderAddition,
  type Service,
  type ServiceRetry,
} from '../plan.gen.js';
import { compileAddition } from '../route/header-mutations.js';
import { ENVOY_GRPC, GRPC_SERVICE } from '../grpc/service-fields.js';
import { compileGoogleService } from './google-service.js';

const HTTP_URI = supportedFields<HttpUri>('envoy.config.core.v3.HttpUri', [
  'uri',
  'cluster',
  'timeout',
]);
const RETRY = supportedFields<RetryPolicy>('envoy.config.core.v3.RetryPolicy', [
  'retry_back_off',
  'num_retries',
  'retry_on',
]);

const DEFAULT_RETRIES = 1;
const DEFAULT_BACK_OFF_MS = 1000;

/** `timeoutMs`: where the service has none; 0: there is no limit. Undefined after an error. */
export function compileDataService(
  message: GrpcService,
  place: Place,
  context: Pick<CompileContext, 'localAddress' | 'hiddenClusters'>,
  timeoutMs: number,
): Service | undefined {
  refuseOtherFields(place, message, GRPC_SERVICE);
  const metadata = compileHeaderValues(message.initial_metadata, place.field('initial_metadata'));
  if (message.google_grpc) {
    return compileGoogleService(message, metadata, place, context, timeoutMs);
  }
  const { envoy_grpc: grpc } = message;
  if (!grpc) return undefined;
  const at = place.field('envoy_grpc');
  refuseOtherFields(at, grpc, ENVOY_GRPC);
  const cluster = grpc.cluster_name ?? '';
  if (grpc.retry_policy) {
    at.field('retry_policy').warn('has no effect here: it is for xDS streams', {
      expected: "the service's own retry_policy",
    });
  }
  return {
    cluster,
    timeout_ms: wholeMs(message.timeout, timeoutMs),
    authority: grpc.authority || cluster,
    metadata,
    is_internal: !grpc.skip_envoy_headers,
    local_address: grpc.skip_envoy_headers ? '' : context.localAddress,
    max_message_bytes: grpc.max_receive_message_length,
    retry: compileServiceRetry(message.retry_policy, place.field('retry_policy')),
  };
}

/** One that is asked over HTTP, with headers of its own. */
export function compileHttpDataService(
  uri: HttpUri,
  place: Place,
  more: {
    readonly headers?: readonly HeaderValue[] | undefined;
    readonly headersPlace: Place;
    readonly retry?: RetryPolicy | undefined;
    readonly retryPlace: Place;
  },
): Service {
  refuseOtherFields(place, uri, HTTP_URI);
  return {
    cluster: uri.cluster,
    timeout_ms: wholeMs(uri.timeout, 0),
    metadata: compileHeaderValues(more.headers, more.headersPlace),
    is_internal: true,
    retry: compileServiceRetry(more.retry, more.retryPlace),
  };
}

/** A later one of the same name takes an earlier one's place. */
export function compileHeaderValues(
  headers: readonly HeaderValue[] | undefined,
  place: Place,
): HeaderAddition[] {
  return (headers ?? []).flatMap((header, index) => {
    const addition = compileAddition({ header }, place.index(index));
    return addition ? { ...addition, action: HeaderAddition_Action.OVERWRITE_OR_ADD } : [];
  });
}

function compileServiceRetry(
  policy: RetryPolicy | undefined,
  place: Place,
): ServiceRetry | undefined {
  if (!policy) return undefined;
  refuseOtherFields(place, policy, RETRY);
  const baseMs = wholeMs(policy.retry_back_off?.base_interval, DEFAULT_BACK_OFF_MS);
  return {
    retry_on: policy.retry_on,
    num_retries: policy.num_retries ?? DEFAULT_RETRIES,
    base_interval_ms: baseMs,
    max_interval_ms: Math.max(baseMs, wholeMs(policy.retry_back_off?.max_interval, baseMs * 10)),
  };
}
