// What is read of a GrpcService, whoever talks to it: the control plane, or the data plane itself.
import type {
  envoy_config_core_v3_GrpcService as GrpcService,
  envoy_config_core_v3_GrpcService_EnvoyGrpc as EnvoyGrpc,
} from '../../../build/messages.gen.js';
import { supportedFields } from '../message/supported-fields.js';

export const GRPC_SERVICE = supportedFields<GrpcService>('envoy.config.core.v3.GrpcService', [
  'envoy_grpc',
  'google_grpc',
  'timeout',
  'initial_metadata',
  'retry_policy',
]);
export const ENVOY_GRPC = supportedFields<EnvoyGrpc>('envoy.config.core.v3.GrpcService.EnvoyGrpc', [
  'cluster_name',
  'authority',
  'retry_policy',
  'max_receive_message_length',
  'skip_envoy_headers',
]);
