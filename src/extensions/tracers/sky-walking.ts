// envoy.tracers.skywalking
import type {
  envoy_config_trace_v3_ClientConfig as ClientConfig,
  envoy_config_trace_v3_SkyWalkingConfig as SkyWalkingConfig,
} from '../../../build/messages.gen.js';
import { compileGrpcService } from '../../plan/grpc/grpc-service.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { Tracing_Kind } from '../../plan/plan.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { TracerPlan } from '../../plan/tracer-plans.js';

const FIELDS = supportedFields<SkyWalkingConfig>('envoy.config.trace.v3.SkyWalkingConfig', [
  'grpc_service',
  'client_config',
]);
const CLIENT = supportedFields<ClientConfig>('envoy.config.trace.v3.ClientConfig', [
  'service_name',
  'instance_name',
  'backend_token',
  'max_cache_size',
]);

const DEFAULT_NAME = 'EnvoyProxy';
const DEFAULT_CACHE_SIZE = 1024;

export const skyWalking = defineExtension<SkyWalkingConfig, TracerPlan | undefined>({
  name: 'envoy.tracers.skywalking',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const client = config.client_config ?? {};
    refuseOtherFields(place.field('client_config'), client, CLIENT);
    const service = compileGrpcService(
      config.grpc_service ?? {},
      place.field('grpc_service'),
      context,
      { mayBeAway: true },
    );
    if (!service) return undefined;
    const serviceName = client.service_name || context.serviceCluster || DEFAULT_NAME;
    const instanceName = client.instance_name || context.serviceNode || DEFAULT_NAME;
    return {
      spans: { kind: Tracing_Kind.SKYWALKING, service: serviceName, instance: instanceName },
      exporter: {
        kind: 'skywalking',
        service,
        token: client.backend_token ?? '',
        serviceName,
        instanceName,
        maxCacheSize: client.max_cache_size ?? DEFAULT_CACHE_SIZE,
      },
    };
  },
});
