// Which processes can take over from each other.
import type { HotRestartAddon } from '../native-hot-restart.js';

/** Raised with every change of what the messages mean (proto/fairlead/hot_restart.proto). */
export const PROTOCOL_VERSION = 5;

/** What is said where there is no hot restart. */
export const NO_HOT_RESTART = 'disabled';

/** "protocol.layout of the shared memory": processes with the same string understand each other. */
export function hotRestartVersion({
  layoutVersion,
}: Pick<HotRestartAddon, 'layoutVersion'>): string {
  return `${PROTOCOL_VERSION}.${layoutVersion}`;
}
