// envoy.watchdog.backtrace_action: stacks of threads that are away, in the log.
import type { envoy_extensions_watchdog_backtrace_action_v3_BacktraceActionConfig as Message } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { WatchdogActionPlan } from '../../plan/extension-plans.js';
import { wholeMs } from '../../plan/message/numbers.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.watchdog.backtrace_action.v3.BacktraceActionConfig',
  ['cooldown_duration'],
);
const DEFAULT_COOLDOWN_MS = 10_000;

export const backtraceAction = defineExtension<Message, WatchdogActionPlan>({
  name: 'envoy.watchdog.backtrace_action',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { backtrace: { cooldown_ms: wholeMs(config.cooldown_duration, DEFAULT_COOLDOWN_MS) } };
  },
});
