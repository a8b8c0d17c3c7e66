// The service that filters of connections and of requests ask whether there may be more of them.
import type { envoy_config_ratelimit_v3_RateLimitServiceConfig as ServiceConfig } from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Service } from '../plan.gen.js';
import { compileDataService } from './data-service.js';

const SERVICE = supportedFields<ServiceConfig>('envoy.config.ratelimit.v3.RateLimitServiceConfig', [
  'grpc_service',
  'transport_api_version',
]);
const DEFAULT_TIMEOUT_MS = 20;

/** The filter's own time limit counts, whatever the service's is. */
export function compileRateLimitService(
  {
    rate_limit_service: config,
    timeout,
  }: {
    readonly rate_limit_service?: ServiceConfig | undefined;
    readonly timeout?: number | undefined;
  },
  place: Place,
  context: CompileContext,
): Service | undefined {
  if (!config?.grpc_service) return undefined;
  const at = place.field('rate_limit_service');
  refuseOtherFields(at, config, SERVICE);
  if (config.transport_api_version === 'V2') {
    at.field('transport_api_version').error('V2 xDS transport protocol version is deprecated', {
      expected: 'V3',
    });
  }
  return compileDataService(
    { ...config.grpc_service, timeout: wholeMs(timeout, DEFAULT_TIMEOUT_MS) },
    at.field('grpc_service'),
    context,
    DEFAULT_TIMEOUT_MS,
  );
}
