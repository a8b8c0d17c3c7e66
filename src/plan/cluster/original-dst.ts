// ORIGINAL_DST: a cluster whose hosts are made as they are asked for.
import { ownHeader } from '../../base/own-headers.js';
import type {
  envoy_config_cluster_v3_Cluster as ClusterMessage,
  envoy_config_cluster_v3_Cluster_OriginalDstLbConfig as OriginalDstConfig,
} from '../../../build/messages.gen.js';
import { wholeMs } from '../message/numbers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { DestinationHosts } from '../plan.gen.js';
import { demandProvided } from './aggregate.js';

const ORIGINAL_DST = supportedFields<OriginalDstConfig>(
  'envoy.config.cluster.v3.Cluster.OriginalDstLbConfig',
  ['use_http_header', 'http_header_name', 'upstream_port_override', 'metadata_key'],
);

const DEFAULT_HEADER = 'original-dst-host';
const DEFAULT_CLEANUP_MS = 5000;

/** Undefined after an error. */
export function compileOriginalDst(
  message: ClusterMessage,
  place: Place,
): DestinationHosts | undefined {
  const policy = message.lb_policy ?? 'ROUND_ROBIN';
  if (policy !== 'CLUSTER_PROVIDED') {
    place
      .field('lb_policy')
      .error(
        `cluster: LB policy ${policy} is not valid for Cluster type ORIGINAL_DST. Only ` +
          "'CLUSTER_PROVIDED' is allowed with cluster type 'ORIGINAL_DST'",
        { expected: 'CLUSTER_PROVIDED' },
      );
    return undefined;
  }
  if (!demandProvided(message, place)) return undefined;
  if (message.load_assignment) {
    place
      .field('load_assignment')
      .error('ORIGINAL_DST clusters must have no load assignment configured');
    return undefined;
  }
  const config = message.original_dst_lb_config ?? {};
  const at = place.field('original_dst_lb_config');
  if (message.lb_subset_config?.subset_selectors?.length) {
    place
      .field('lb_subset_config')
      .error('cluster: LB policy CLUSTER_PROVIDED cannot be combined with lb_subset_config');
  }
  refuseOtherFields(at, config, ORIGINAL_DST);
  const { use_http_header: usesHeader = false, http_header_name: header = '' } = config;
  if (header && !usesHeader) {
    at.field('http_header_name').error(
      `ORIGINAL_DST cluster: invalid config http_header_name=${header} and use_http_header is ` +
        'false. Set use_http_header to true if http_header_name is desired.',
      { expected: 'use_http_header: true' },
    );
    return undefined;
  }
  return {
    ...metadataOf(config.metadata_key),
    header: usesHeader ? (header || ownHeader(DEFAULT_HEADER)).toLowerCase() : '',
    port: config.upstream_port_override,
    cleanup_interval_ms: wholeMs(message.cleanup_interval, DEFAULT_CLEANUP_MS),
  };
}

function metadataOf(
  metadata: OriginalDstConfig['metadata_key'],
): Pick<DestinationHosts, 'metadata_namespace' | 'metadata_path'> {
  if (!metadata) return {};
  const path = (metadata.path ?? []).map(({ key = '' }) => key);
  return { metadata_namespace: metadata.key, metadata_path: path.join('\0') };
}
