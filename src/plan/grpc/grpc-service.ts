// A gRPC service that the control plane talks to (envoy.config.core.v3.GrpcService).
import { octetsOf } from '../../base/octets.js';
import { ownHeader } from '../../base/own-headers.js';
import type {
  envoy_config_core_v3_GrpcService as GrpcService,
  envoy_config_core_v3_GrpcService_EnvoyGrpc as EnvoyGrpc,
  envoy_config_core_v3_HeaderValue as HeaderValue,
  envoy_config_core_v3_RetryPolicy as RetryPolicy,
} from '../../../build/messages.gen.js';
import { nearestName } from '../../base/suggest.js';
import type {
  EnvoyGrpcPlan,
  GrpcMetadata,
  GrpcRetryPlan,
  GrpcServicePlan,
} from '../service-plan.js';
import type { CompileContext } from '../extension.js';
import { compileFormat } from '../format/format.js';
import { NOT_YET } from '../format/format-operators.js';
import { compileGoogleGrpc } from './google-grpc.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { FormatPiece_Operator } from '../plan.gen.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import { ENVOY_GRPC, GRPC_SERVICE } from './service-fields.js';

const RETRY = supportedFields<RetryPolicy>('envoy.config.core.v3.RetryPolicy', [
  'retry_on',
  'num_retries',
  'retry_back_off',
]);

const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);
const OF_GRPC: ReadonlySet<string> = new Set(['content-type', 'te']);

const DEFAULT_RETRIES = 1;
const DEFAULT_BACK_OFF_MS = 25;

type ServiceContext = Pick<CompileContext, 'clusterNames' | 'grpcClusters' | 'localAddress'>;

export interface ServiceUse {
  readonly isStreamOfXds?: boolean;
  /** As the real server: its cluster is looked for when there is something to send. */
  readonly mayBeAway?: boolean;
}

/** Undefined after an error. */
export function compileGrpcService(
  service: GrpcService,
  place: Place,
  context: ServiceContext,
  use: ServiceUse = {},
): GrpcServicePlan | undefined {
  refuseOtherFields(place, service, GRPC_SERVICE);
  const metadata = compileMetadata(
    service.initial_metadata ?? [],
    place.field('initial_metadata'),
    service.google_grpc !== undefined,
  );
  if (service.google_grpc) {
    if (service.retry_policy) {
      place
        .field('retry_policy')
        .warn('has no effect on google_grpc: the gRPC library retries by itself');
    }
    return compileGoogleGrpc(service.google_grpc, metadata, place.field('google_grpc'));
  }
  if (!service.envoy_grpc) return undefined;
  const retry =
    service.retry_policy && compileRetry(service.retry_policy, place.field('retry_policy'));
  return compileEnvoyGrpc(
    service.envoy_grpc,
    { metadata, ...(retry && { retry }) },
    place.field('envoy_grpc'),
    context,
    use,
  );
}

function compileEnvoyGrpc(
  message: EnvoyGrpc,
  common: Pick<EnvoyGrpcPlan, 'metadata' | 'retry'>,
  place: Place,
  context: ServiceContext,
  { isStreamOfXds = false, mayBeAway = false }: ServiceUse,
): EnvoyGrpcPlan | undefined {
  refuseOtherFields(place, message, ENVOY_GRPC);
  const { cluster_name: name = '', authority = '' } = message;
  if (message.retry_policy && !isStreamOfXds) {
    place.field('retry_policy').warn('has no effect here: it is for xDS streams');
  }
  if (!mayBeAway && !context.clusterNames.has(name)) {
    place.field('cluster_name').error(`Unknown gRPC client cluster '${name}'`, {
      expected: 'the name of a static cluster',
      suggestion: nearestName(name, context.clusterNames),
    });
    return undefined;
  }
  const { grpcClusters: clusters } = context;
  const cluster = clusters.known(name);
  // Something is wrong with the cluster itself.
  if (!mayBeAway && !cluster) return undefined;
  if (cluster?.tls?.unsupported !== undefined) {
    place
      .field('cluster_name')
      .error(
        `cluster '${name}' has TLS with ${cluster.tls.unsupported}, which is not supported yet for gRPC services`,
      );
  }
  if (cluster?.goesThrough !== undefined) {
    place
      .field('cluster_name')
      .error(
        `cluster '${name}' has ${cluster.goesThrough}, which is not supported yet for gRPC services`,
      );
  }
  const own: GrpcMetadata = message.skip_envoy_headers
    ? []
    : [
        [ownHeader('internal'), 'true'],
        ['x-forwarded-for', context.localAddress],
      ];
  return {
    kind: 'envoy',
    clusterName: name,
    clusters,
    authority: authority || name,
    ...common,
    metadata: [...common.metadata, ...own],
    maxMessageBytes: message.max_receive_message_length ?? 0,
  };
}

/** Of several values for a name the last is sent. Formats are checked, but no request gives them values. */
function compileMetadata(
  headers: readonly HeaderValue[],
  place: Place,
  isGoogle: boolean,
): GrpcMetadata {
  const metadata = new Map<string, string | Buffer>();
  headers.forEach((header, index) => {
    const at = place.index(index);
    const name = (header.key ?? '').toLowerCase();
    const value = header.value ?? '';
    if (name.startsWith(':') || name === 'host') {
      at.field('key').error(':-prefixed or host headers may not be modified');
      return;
    }
    const illegal = whyIllegal(name, value, isGoogle);
    if (illegal !== undefined) {
      at.error(`cannot be sent: ${illegal}`);
      return;
    }
    if (header.raw_value?.length) {
      at.field('raw_value').error('raw_value is not supported for initial metadata', {
        expected: 'value',
      });
      return;
    }
    const checked = compileFormat(value, 'header', (operator) =>
      NOT_YET.has(operator) ? { operator: FormatPiece_Operator.LITERAL, argument: '' } : undefined,
    );
    if ('error' in checked) {
      at.field('value').error(checked.error, checked);
      return;
    }
    metadata.set(name, name.endsWith('-bin') ? Buffer.from(value) : octetsOf(value));
  });
  return [...metadata];
}

/** Why HTTP/2, or the gRPC library, does not take the header. */
function whyIllegal(name: string, value: string, isGoogle: boolean): string | undefined {
  const names = isGoogle ? /^[0-9a-z_.-]+$/ : /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
  if (!names.test(name)) return `'${name}' is no name of metadata`;
  if (OF_CONNECTIONS.has(name))
    return `'${name}' is about connections, which HTTP/2 does not allow`;
  if (OF_GRPC.has(name)) return `gRPC sets '${name}' itself`;
  if (name.endsWith('-bin')) return undefined;
  const values = isGoogle ? /^[ -~]*$/ : /^[^\0-\x08\x0a-\x1f\x7f]*$/;
  return values.test(value) ? undefined : 'its value has characters that no header may have';
}

function compileRetry(policy: RetryPolicy, place: Place): GrpcRetryPlan {
  refuseOtherFields(place, policy, RETRY);
  const baseMs = wholeMs(policy.retry_back_off?.base_interval, DEFAULT_BACK_OFF_MS);
  const names = (policy.retry_on ?? '').split(',').map((name) => name.trim());
  return {
    on: new Set(names.filter((name) => name !== '')),
    count: policy.num_retries ?? DEFAULT_RETRIES,
    baseMs,
    maxMs: Math.max(baseMs, wholeMs(policy.retry_back_off?.max_interval, baseMs * 10)),
  };
}
