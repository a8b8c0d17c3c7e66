// What the server itself, not the data plane, takes from the bootstrap: statistics, node, log format.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_bootstrap_v3_Bootstrap_ApplicationLogConfig_LogFormat as LogFormat,
} from '../../build/messages.gen.js';
import type { Options } from '../options/parse.js';
import type { Issue } from '../config/issues/issue.js';
import { Place } from '../plan/message/place.js';
import type { StatsSettings } from '../plan/plan.gen.js';
import { refuseOtherFields, supportedFields } from '../plan/message/supported-fields.js';
import { compileStatsConfig } from '../plan/bootstrap/stats-config.js';

const LOG_FORMAT = supportedFields<LogFormat>(
  'envoy.config.bootstrap.v3.Bootstrap.ApplicationLogConfig.LogFormat',
  ['text_format', 'json_format'],
);

export const DEFAULT_FLUSH_INTERVAL_MS = 5000;

export interface ServerSettings {
  /** Undefined: only when statistics are asked for. */
  readonly statsFlushIntervalMs: number | undefined;
  readonly stats: StatsSettings;
  /** What `server.version` says instead of the build's number. */
  readonly versionOverride: number | undefined;
  /** The pattern of log lines. */
  readonly logFormat: string | undefined;
}

/** `fixedTags`: of --stats-tag. `startIssues`: of what only a start looks at. */
export function readSettings(
  bootstrap: Bootstrap,
  fixedTags: Options['fixedTags'],
  issues: Issue[],
  startIssues: Issue[] = issues,
): ServerSettings {
  const place = Place.root(issues);
  const start = Place.root(startIssues).field('stats_config');
  if (bootstrap.stats_flush_on_admin && bootstrap.stats_flush_interval !== undefined) {
    place
      .field('stats_flush_on_admin')
      .error('Only one of stats_flush_interval or stats_flush_on_admin should be set!');
  }
  const logFormat = bootstrap.application_log_config?.log_format;
  return {
    statsFlushIntervalMs: bootstrap.stats_flush_on_admin
      ? undefined
      : (bootstrap.stats_flush_interval ?? DEFAULT_FLUSH_INTERVAL_MS),
    stats: {
      ...compileStatsConfig(
        bootstrap.stats_config ?? {},
        fixedTags,
        place.field('stats_config'),
        start,
      ),
      defers_traffic: bootstrap.deferred_stat_options?.enable_deferred_creation_stats,
    },
    versionOverride: bootstrap.stats_server_version_override,
    logFormat:
      logFormat && patternOf(logFormat, place.field('application_log_config').field('log_format')),
  };
}

/** Of JSON: its text, in which flags stand as they do in any other pattern. */
function patternOf(format: LogFormat, place: Place): string | undefined {
  refuseOtherFields(place, format, LOG_FORMAT);
  if (format.json_format === undefined) return format.text_format;
  const pattern = JSON.stringify(format.json_format);
  for (const flag of ['%v', '%_']) {
    if (!pattern.includes(flag)) continue;
    place
      .field('json_format')
      .error(`setJsonLogFormat error: Usage of ${flag} is unavailable for JSON log formats`, {
        expected: '%j, which is the message as JSON has it',
      });
  }
  return pattern;
}
