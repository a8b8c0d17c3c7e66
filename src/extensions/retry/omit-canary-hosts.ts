// envoy.retry_host_predicates.omit_canary_hosts
import type { envoy_extensions_retry_host_omit_canary_hosts_v3_OmitCanaryHostsPredicate as OmitCanaryHosts } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { RetryHosts } from '../../plan/plan.gen.js';

export const omitCanaryHosts = defineExtension<OmitCanaryHosts, RetryHosts>({
  name: 'envoy.retry_host_predicates.omit_canary_hosts',
  type: 'envoy.extensions.retry.host.omit_canary_hosts.v3.OmitCanaryHostsPredicate',
  compile: () => ({ avoid_canary: true }),
});
