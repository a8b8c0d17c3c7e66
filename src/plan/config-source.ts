// Where a configuration says that resources come from (envoy.config.core.v3.ConfigSource).
import { existsSync } from 'node:fs';
import type {
  envoy_config_core_v3_ConfigSource as ConfigSource,
  envoy_config_core_v3_PathConfigSource as PathConfigSource,
  envoy_config_core_v3_WatchedDirectory as WatchedDirectory,
} from '../../build/messages.gen.js';
import { fetchTimeoutMs } from './authorities.js';
import { compileApiSource, type SourceContext } from './grpc/api-config-source.js';
import { nodeRequired } from './message/node-required.js';
import { wholeMs } from './message/numbers.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';
import { SECRET_TYPE } from './secret-request.js';
import type { FileSource, Source } from './sources.js';

// How long to wait for the first answer only counts where one has to be waited for: a file is there.
const SOURCE = supportedFields<ConfigSource>('envoy.config.core.v3.ConfigSource', [
  'path',
  'path_config_source',
  'api_config_source',
  'ads',
  'self',
  'initial_fetch_timeout',
  'resource_api_version',
  'authorities',
]);
const PATH = supportedFields<PathConfigSource>('envoy.config.core.v3.PathConfigSource', [
  'path',
  'watched_directory',
  'poll_interval',
]);
const WATCHED = supportedFields<WatchedDirectory>('envoy.config.core.v3.WatchedDirectory', [
  'path',
  'watch_modify',
]);

export const MISSING_SOURCE =
  'Missing config source specifier in envoy::config::core::v3::ConfigSource';

/**
 * `type`: of the resources. `start`: where what is wrong with a control plane goes that only a start
 * looks at, not `--mode validate`; absent: where all goes. Undefined after an error.
 */
export function compileConfigSource(
  source: ConfigSource | undefined,
  type: string,
  place: Place,
  context: SourceContext,
  start: Place = place,
): Source | undefined {
  // Who needs one has said so: the schema's rules, or the caller.
  if (!source) return undefined;
  refuseOtherFields(place, source, SOURCE);
  if (!context.hasNode) {
    place.error(nodeRequired(`type.googleapis.com/${type}`));
    return undefined;
  }
  if (source.resource_api_version === 'V2') {
    place
      .field('resource_api_version')
      .warn('resources of the v2 API are not there any more', { expected: 'V3' });
  }
  if (source.authorities) {
    place
      .field('authorities')
      .warn('has no effect here, as in the real server: only config_sources are chosen by them');
  }
  const { mayFileBeAway: mayBeAway = false } = context;
  if (source.path !== undefined) {
    const file = { kind: 'file', path: source.path, watchesWrites: false } as const;
    if (mayBeAway) return file;
    return checkBacking(source.path, place.field('path')) ? file : undefined;
  }
  if (source.path_config_source)
    return compilePath(source.path_config_source, place.field('path_config_source'), mayBeAway);
  const initialFetchTimeoutMs = fetchTimeoutMs(source);
  if (source.ads) {
    if (context.hasAds) return { kind: 'ads', initialFetchTimeoutMs };
    // As the real server: only a start looks at it.
    const later = context.start?.field(place.path) ?? start;
    later.field('ads').error('ADS must be configured to support an ADS config source', {
      expected: 'dynamic_resources.ads_config',
    });
    return undefined;
  }
  if (source.self) {
    place.field('self').error(MISSING_SOURCE, {
      expected: 'ads, api_config_source or path_config_source',
    });
    return undefined;
  }
  const api = source.api_config_source;
  return (
    api && compileApiSource(api, start.field('api_config_source'), context, initialFetchTimeoutMs)
  );
}

/** Where a secret comes from. Undefined after an error. */
export function compileSecretSource(
  source: ConfigSource | undefined,
  place: Place,
  context: SourceContext,
): Source | undefined {
  const start = context.start?.field(place.path);
  return compileConfigSource(
    source,
    SECRET_TYPE,
    place,
    { ...context, mayClusterBeAway: true },
    start,
  );
}

function compilePath(
  source: PathConfigSource,
  place: Place,
  mayBeAway: boolean,
): FileSource | undefined {
  refuseOtherFields(place, source, PATH);
  const { path = '', watched_directory: watched, poll_interval: poll } = source;
  if (watched && poll !== undefined) {
    place.error('PathConfigSource poll_interval and watched_directory cannot both be set');
    return undefined;
  }
  if (watched) refuseOtherFields(place.field('watched_directory'), watched, WATCHED);
  const file: FileSource = {
    kind: 'file',
    path,
    ...(watched && { watchedDirectory: watched.path ?? '' }),
    ...(poll !== undefined && { pollMs: wholeMs(poll, 0) }),
    watchesWrites: watched?.watch_modify ?? false,
  };
  return mayBeAway || checkFiles(file, place) ? file : undefined;
}

function checkFiles({ path, watchedDirectory: folder }: FileSource, place: Place): boolean {
  if (!checkBacking(path, place.field('path'))) return false;
  return (
    folder === undefined || checkBacking(folder, place.field('watched_directory').field('path'))
  );
}

/** As the real server: what is not there at the start is a mistake, not something to wait for. */
export function checkBacking(path: string, place: Place): boolean {
  if (existsSync(path)) return true;
  place.error(`paths must refer to an existing path in the system: '${path}' does not exist`, {
    expected: 'a file that is there before the server starts',
  });
  return false;
}
