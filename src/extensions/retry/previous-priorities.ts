// envoy.retry_priorities.previous_priorities
import type { envoy_extensions_retry_priority_previous_priorities_v3_PreviousPrioritiesConfig as PreviousPriorities } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { RetryHosts } from '../../plan/plan.gen.js';

export const previousPriorities = defineExtension<PreviousPriorities, RetryHosts>({
  name: 'envoy.retry_priorities.previous_priorities',
  type: 'envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig',
  compile: ({ update_frequency: every = 0 }, place) => {
    if (every <= 0) {
      place.field('update_frequency').error('value must be greater than 0', {
        expected: 'after how many attempts priorities are avoided: 1 or more',
      });
    }
    return { priorities_every: every };
  },
});
