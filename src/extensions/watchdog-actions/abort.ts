// envoy.watchdog.abort_action: the end of the process, by a signal to the thread that is away.
import type { envoy_watchdog_v3_AbortActionConfig as Message } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { WatchdogActionPlan } from '../../plan/extension-plans.js';
import { wholeMs } from '../../plan/message/numbers.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Message>('envoy.watchdog.v3.AbortActionConfig', ['wait_duration']);
const DEFAULT_WAIT_MS = 5000;

export const abortAction = defineExtension<Message, WatchdogActionPlan>({
  name: 'envoy.watchdog.abort_action',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { abort: { wait_ms: wholeMs(config.wait_duration, DEFAULT_WAIT_MS) } };
  },
});
