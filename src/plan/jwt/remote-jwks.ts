// Where keys are fetched from while the server runs.
import type {
  envoy_config_core_v3_HttpUri as HttpUri,
  envoy_config_core_v3_RetryPolicy as RetryPolicy,
  envoy_extensions_filters_http_jwt_authn_v3_JwksAsyncFetch as AsyncFetch,
  envoy_extensions_filters_http_jwt_authn_v3_RemoteJwks as RemoteJwks,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import type { HttpSource, JwksSource } from '../jwks-source.js';
import { compileBackOff } from '../message/back-off.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';

const PACKAGE = 'envoy.extensions.filters.http.jwt_authn.v3';
const REMOTE = supportedFields<RemoteJwks>(`${PACKAGE}.RemoteJwks`, [
  'http_uri',
  'cache_duration',
  'async_fetch',
  'retry_policy',
]);
const URI = supportedFields<HttpUri>('envoy.config.core.v3.HttpUri', ['uri', 'cluster', 'timeout']);
const ASYNC = supportedFields<AsyncFetch>(`${PACKAGE}.JwksAsyncFetch`, [
  'fast_listener',
  'failed_refetch_duration',
]);
const RETRY = supportedFields<RetryPolicy>('envoy.config.core.v3.RetryPolicy', [
  'retry_back_off',
  'num_retries',
]);

const DEFAULT_CACHE_MS = 600_000;
const DEFAULT_REFETCH_MS = 1000;
const DEFAULT_BACK_OFF_MS = 1000;
/** Keys that come by themselves come so long before the old ones are too old. */
const AHEAD_MS = 5000;

export function compileRemoteJwks(
  message: RemoteJwks,
  place: Place,
  context: CompileContext,
): JwksSource {
  refuseOtherFields(place, message, REMOTE);
  const { async_fetch: ahead } = message;
  if (ahead) refuseOtherFields(place.field('async_fetch'), ahead, ASYNC);
  const cacheMs = wholeSeconds(wholeMs(message.cache_duration, DEFAULT_CACHE_MS));
  const uri = compileHttpUri(message.http_uri ?? {}, place.field('http_uri'), context);
  return {
    ...uri,
    ...compileRetries(message.retry_policy, place.field('retry_policy'), uri.timeoutMs),
    cacheMs,
    ...(ahead && {
      ahead: {
        isFast: ahead.fast_listener ?? false,
        afterSuccessMs: cacheMs > AHEAD_MS ? cacheMs - AHEAD_MS : cacheMs,
        afterFailureMs: wholeMs(ahead.failed_refetch_duration, DEFAULT_REFETCH_MS),
      },
    }),
    localAddress: context.localAddress,
  };
}

/** As the real server; but what is shorter than one of them is not none: keys would be fetched without a pause. */
function wholeSeconds(ms: number): number {
  return ms < 1000 ? ms : ms - (ms % 1000);
}

export function compileHttpUri(
  message: HttpUri,
  place: Place,
  context: CompileContext,
): Omit<HttpSource, 'retries' | 'backOff'> {
  refuseOtherFields(place, message, URI);
  const uri = message.uri ?? '';
  const [, host = '', path = ''] = /^(?:[a-z]+:\/\/)?([^/?#]*)(.*)$/is.exec(uri) ?? [];
  const clusterName = message.cluster ?? '';
  return {
    uri,
    host,
    path: path.startsWith('/') ? path : `/${path}`,
    clusterName,
    clusters: context.grpcClusters,
    timeoutMs: wholeMs(message.timeout, 0),
  };
}

export function compileRetries(
  message: RetryPolicy | undefined,
  place: Place,
  timeoutMs: number,
): Pick<HttpSource, 'retries' | 'backOff' | 'tryMs'> {
  if (!message) {
    return { retries: 0, backOff: { baseMs: DEFAULT_BACK_OFF_MS, maxMs: DEFAULT_BACK_OFF_MS } };
  }
  refuseOtherFields(place, message, RETRY);
  const at = place.field('retry_back_off');
  const backOff = compileBackOff(message.retry_back_off ?? {}, at, DEFAULT_BACK_OFF_MS);
  // As the real server: the longest pause is how long a try may take.
  const isShorter = timeoutMs === 0 || backOff.maxMs < timeoutMs;
  return {
    ...{ retries: message.num_retries ?? 1, backOff },
    ...(isShorter && { tryMs: backOff.maxMs }),
  };
}
