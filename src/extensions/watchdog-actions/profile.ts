// envoy.watchdog.profile_action: a CPU profile of the process while threads are away for long.
import type { envoy_extensions_watchdog_profile_action_v3_ProfileActionConfig as Message } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { WatchdogActionPlan } from '../../plan/extension-plans.js';
import { wholeMs } from '../../plan/message/numbers.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<Message>(
  'envoy.extensions.watchdog.profile_action.v3.ProfileActionConfig',
  ['profile_duration', 'profile_path', 'max_profiles'],
);
const DEFAULT_DURATION_MS = 5000;
const DEFAULT_MAX_PROFILES = 10;

export const profileAction = defineExtension<Message, WatchdogActionPlan>({
  name: 'envoy.watchdog.profile_action',
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return {
      profile: {
        folder: config.profile_path,
        duration_ms: wholeMs(config.profile_duration, DEFAULT_DURATION_MS),
        max_profiles: config.max_profiles || DEFAULT_MAX_PROFILES,
      },
    };
  },
});
