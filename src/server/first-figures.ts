// What /stats says of a server from its configuration on, before anything has happened.
import { build } from '../base/version.js';
import type { Epoch } from '../hot-restart/epoch.js';
import type { Configuration } from './configuration.js';
import type { PartsHost } from './parts.js';

export function showFirstFigures(
  { settings, unknownFieldCount, deprecatedUseCount }: Configuration,
  { options, concurrency, stats }: Pick<PartsHost, 'options' | 'concurrency' | 'stats'>,
  epoch: Epoch | undefined,
): void {
  stats.setGauge('server.concurrency', concurrency);
  stats.setGauge('server.live', 1);
  if (epoch) {
    stats.setGauge('server.hot_restart_epoch', options.restartEpoch);
    stats.setGauge('server.hot_restart_generation', epoch.generation);
  }
  stats.setGauge('server.compilation_settings.fips_mode', 0);
  stats.setGauge('server.version', settings.versionOverride ?? versionNumber());
  stats.count('server.static_unknown_fields', unknownFieldCount);
  stats.countDeprecated(deprecatedUseCount);
  stats.count('server.wip_protos', 0);
  stats.count('server.dynamic_unknown_fields', 0);
  stats.count('cluster_manager.cluster_added', 0);
}

/** The first six digits of the commit's name, as a number. */
function versionNumber(): number {
  return parseInt(build().revision.slice(0, 6), 16);
}
