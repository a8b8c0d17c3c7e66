// envoy.retry_host_predicates.previous_hosts
import type { envoy_extensions_retry_host_previous_hosts_v3_PreviousHostsPredicate as PreviousHosts } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { RetryHosts } from '../../plan/plan.gen.js';

export const previousHosts = defineExtension<PreviousHosts, RetryHosts>({
  name: 'envoy.retry_host_predicates.previous_hosts',
  type: 'envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
  compile: () => ({ avoid_previous: true }),
});
