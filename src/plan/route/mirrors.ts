// To which other clusters copies of requests go.
import type { envoy_config_route_v3_RouteAction_RequestMirrorPolicy as RequestMirrorPolicy } from '../../../build/messages.gen.js';
import { requestHeaderName } from '../match/matchers.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { MirrorPolicy } from '../plan.gen.js';
import { compileHeaderChanges } from './header-changes.js';
import { checkCluster, type ClusterCheck } from './route-clusters.js';
import type { Mirrors } from './route-scope.js';

const POLICY = supportedFields<RequestMirrorPolicy>(
  'envoy.config.route.v3.RouteAction.RequestMirrorPolicy',
  [
    'cluster',
    'cluster_header',
    'runtime_fraction',
    'trace_sampled',
    'disable_shadow_host_suffix_append',
    'host_rewrite_literal',
    'request_headers_mutations',
  ],
);

const MILLION = 1_000_000;

/** Undefined: none are named here. */
export function compileMirrors(
  policies: readonly RequestMirrorPolicy[] | undefined,
  place: Place,
  scope: ClusterCheck,
): Mirrors | undefined {
  if (!policies || policies.length === 0) return undefined;
  const mirrors = policies.map((policy, index) => compileMirror(policy, place.index(index), scope));
  let isChecked = false;
  return {
    forRoute() {
      if (!isChecked) checkClusters(policies, place, scope);
      isChecked = true;
      return mirrors;
    },
  };
}

function checkClusters(
  policies: readonly RequestMirrorPolicy[],
  place: Place,
  scope: ClusterCheck,
): void {
  policies.forEach(({ cluster = '' }, index) => {
    if (cluster === '') return;
    checkCluster(cluster, 'shadow cluster', place.index(index).field('cluster'), scope);
  });
}

function compileMirror(
  message: RequestMirrorPolicy,
  place: Place,
  scope: ClusterCheck,
): MirrorPolicy {
  refuseOtherFields(place, message, POLICY);
  const { cluster = '', cluster_header: header = '', runtime_fraction: fraction } = message;
  if (cluster !== '' && header !== '') {
    place.error('Only one of cluster or cluster_header in request mirror policy can be specified', {
      expected: 'cluster, or cluster_header',
    });
  }
  if (cluster === '' && header === '') {
    place.error(
      'Exactly one of cluster or cluster_header in request mirror policy must be specified',
      { expected: 'cluster, or cluster_header' },
    );
  }
  const share = fraction
    ? scope.context.runtime.liveMillionths(fraction.runtime_key, fraction.default_value)
    : { value: MILLION, slot: 0 };
  return {
    cluster,
    cluster_header: header && requestHeaderName(header),
    share_millionths: share.value,
    share_slot: share.slot,
    keeps_host: message.disable_shadow_host_suffix_append,
    host: message.host_rewrite_literal,
    is_sampled: message.trace_sampled,
    request_changes: compileHeaderChanges(
      message.request_headers_mutations,
      place.field('request_headers_mutations'),
    ),
  };
}
