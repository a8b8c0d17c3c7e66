// What the server itself, not the data plane, takes from the bootstrap: statistics, node, log format.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_bootstrap_v3_Bootstrap_ApplicationLogConfig_LogFormat as LogFormat,
  envoy_config_metrics_v3_StatsConfig as StatsConfig,
  envoy_config_metrics_v3_TagSpecifier as TagSpecifier,
} from '../../build/messages.gen.js';
import type { Issue } from '../config/issue.js';
import { Place } from '../plan/place.js';
import { refuseOtherFields, supportedFields } from '../plan/supported-fields.js';

const STATS_CONFIG = supportedFields<StatsConfig>(
  'envoy.config.metrics.v3.StatsConfig',
  ['stats_tags'],
  { use_all_default_tags: true },
);
const TAG = supportedFields<TagSpecifier>('envoy.config.metrics.v3.TagSpecifier', [
  'tag_name',
  'fixed_value',
]);
const LOG_FORMAT = supportedFields<LogFormat>(
  'envoy.config.bootstrap.v3.Bootstrap.ApplicationLogConfig.LogFormat',
  ['text_format'],
);

const DEFAULT_FLUSH_INTERVAL_MS = 5000;

export interface ServerSettings {
  /** Undefined: only when statistics are asked for. */
  readonly statsFlushIntervalMs: number | undefined;
  readonly fixedTags: readonly (readonly [name: string, value: string])[];
  /** What `server.version` says instead of the build's number. */
  readonly versionOverride: number | undefined;
  /** The pattern of log lines. */
  readonly logFormat: string | undefined;
}

export function readSettings(bootstrap: Bootstrap, issues: Issue[]): ServerSettings {
  const place = Place.root(issues);
  (bootstrap.stats_sinks ?? []).forEach(({ name = '', typed_config: config }, index) => {
    const sink = `the sink '${name}' of statistics (${config?.$type ?? ''})`;
    place.field('stats_sinks').index(index).error(`${sink} is not supported yet`);
  });
  if (bootstrap.enable_dispatcher_stats) {
    place.field('enable_dispatcher_stats').error('statistics of event loops are not supported yet');
  }
  for (const name of ['watchdog', 'watchdogs'] as const) {
    if (bootstrap[name]) place.field(name).warn('threads are not watched yet: this has no effect');
  }
  if (bootstrap.stats_flush_on_admin && bootstrap.stats_flush_interval !== undefined) {
    place
      .field('stats_flush_on_admin')
      .error('Only one of stats_flush_interval or stats_flush_on_admin should be set!');
  }
  if (bootstrap.watchdog && bootstrap.watchdogs)
    place.field('watchdogs').error('Only one of watchdog or watchdogs should be set!');
  const logFormat = bootstrap.application_log_config?.log_format;
  if (logFormat) {
    refuseOtherFields(
      place.field('application_log_config').field('log_format'),
      logFormat,
      LOG_FORMAT,
    );
  }
  return {
    statsFlushIntervalMs: bootstrap.stats_flush_on_admin
      ? undefined
      : (bootstrap.stats_flush_interval ?? DEFAULT_FLUSH_INTERVAL_MS),
    fixedTags: readTags(bootstrap.stats_config ?? {}, place.field('stats_config')),
    versionOverride: bootstrap.stats_server_version_override,
    logFormat: logFormat?.text_format,
  };
}

function readTags(config: StatsConfig, place: Place): (readonly [string, string])[] {
  refuseOtherFields(place, config, STATS_CONFIG);
  return (config.stats_tags ?? []).flatMap((tag, index): [string, string][] => {
    const at = place.field('stats_tags').index(index);
    if (tag.fixed_value === undefined) {
      at.error('tags taken out of names are not supported yet', { expected: 'a fixed_value' });
      return [];
    }
    refuseOtherFields(at, tag, TAG);
    return [[tag.tag_name ?? '', tag.fixed_value]];
  });
}
