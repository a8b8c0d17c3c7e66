// envoy.retry_host_predicates.omit_host_metadata
import type { envoy_extensions_retry_host_omit_host_metadata_v3_OmitHostMetadataConfig as OmitHostMetadata } from '../../../build/messages.gen.js';
import { wantedLabels } from '../../plan/host-labels.js';
import { defineExtension } from '../../plan/extension.js';
import type { RetryHosts } from '../../plan/plan.gen.js';

export const omitHostMetadata = defineExtension<OmitHostMetadata, RetryHosts>({
  name: 'envoy.retry_host_predicates.omit_host_metadata',
  type: 'envoy.extensions.retry.host.omit_host_metadata.v3.OmitHostMetadataConfig',
  // Without labels, it is about no host.
  compile: ({ metadata_match: metadata }) => {
    const labels = wantedLabels(metadata);
    return labels.length > 0 ? { avoid_labelled: [{ labels }] } : {};
  },
});
