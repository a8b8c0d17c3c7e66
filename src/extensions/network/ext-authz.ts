// envoy.filters.network.ext_authz
import type { envoy_extensions_filters_network_ext_authz_v3_ExtAuthz as Message } from '../../../build/messages.gen.js';
import { compileDataService } from '../../plan/calls/data-service.js';
import { compileLabels } from '../../plan/calls/labels.js';
import { defineExtension } from '../../plan/extension.js';
import type { NetworkFilterPlan } from '../../plan/extension-plans.js';
import { compileMetadataMatcher } from '../../plan/match/metadata.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { RbacCondition_Kind } from '../../plan/plan.gen.js';

const FIELDS = supportedFields<Message>('envoy.extensions.filters.network.ext_authz.v3.ExtAuthz', [
  'stat_prefix',
  'grpc_service',
  'failure_mode_allow',
  'include_peer_certificate',
  'transport_api_version',
  'filter_enabled_metadata',
  'bootstrap_metadata_labels_key',
  'include_tls_session',
  'metadata_context_namespaces',
  'typed_metadata_context_namespaces',
  'shadow_mode',
]);

const DEFAULT_TIMEOUT_MS = 200;

export const networkExtAuthz = defineExtension<Message, NetworkFilterPlan>({
  name: 'envoy.filters.network.ext_authz',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    if (config.transport_api_version === 'V2') {
      place
        .field('transport_api_version')
        .error('V2 xDS transport protocol version is deprecated', { expected: 'V3' });
    }
    const { grpc_service: service = {}, filter_enabled_metadata: enabled } = config;
    return {
      guards: [
        {
          ext_authz: {
            stat_prefix: config.stat_prefix,
            service: compileDataService(
              service,
              place.field('grpc_service'),
              context,
              DEFAULT_TIMEOUT_MS,
            ),
            failure_mode_allow: config.failure_mode_allow,
            include_peer_certificate: config.include_peer_certificate,
            include_tls_session: config.include_tls_session,
            ...(enabled && {
              enabled_metadata: {
                kind: RbacCondition_Kind.METADATA,
                metadata: compileMetadataMatcher(enabled, place.field('filter_enabled_metadata')),
              },
            }),
            labels: compileLabels(config.bootstrap_metadata_labels_key, context),
            metadata_namespaces: config.metadata_context_namespaces ?? [],
            typed_metadata_namespaces: config.typed_metadata_context_namespaces,
            shadow_mode: config.shadow_mode,
          },
        },
      ],
    };
  },
});
