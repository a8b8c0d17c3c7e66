// Where resources come from that are not written in the bootstrap.
import { existsSync } from 'node:fs';
import type {
  envoy_config_core_v3_ConfigSource as ConfigSource,
  envoy_config_core_v3_PathConfigSource as PathConfigSource,
  envoy_config_core_v3_WatchedDirectory as WatchedDirectory,
} from '../../build/messages.gen.js';
import type { Place } from './message/place.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';

// How long to wait for the first answer only counts where one has to be waited for: a file is there.
const SOURCE = supportedFields<ConfigSource>('envoy.config.core.v3.ConfigSource', [
  'path',
  'path_config_source',
  'api_config_source',
  'ads',
  'self',
  'initial_fetch_timeout',
  'resource_api_version',
]);
const PATH = supportedFields<PathConfigSource>('envoy.config.core.v3.PathConfigSource', [
  'path',
  'watched_directory',
]);
const WATCHED = supportedFields<WatchedDirectory>('envoy.config.core.v3.WatchedDirectory', [
  'path',
  'watch_modify',
]);

/** A file with a DiscoveryResponse. */
export interface FileSource {
  readonly path: string;
  /** Whatever is moved into this folder, the file is read again. Absent: when the file is replaced. */
  readonly watchedDirectory?: string;
  /** It is also read again when it is written to. */
  readonly watchesWrites: boolean;
}

/** `type`: of the resources. Undefined after an error. */
export function compileConfigSource(
  source: ConfigSource | undefined,
  type: string,
  place: Place,
  { hasNode }: { readonly hasNode: boolean },
): FileSource | undefined {
  // The schema's rules have said that a source is needed.
  if (!source) return undefined;
  refuseOtherFields(place, source, SOURCE);
  if (!hasNode) {
    place.error(
      `type.googleapis.com/${type}: node 'id' and 'cluster' are required. Set it either in 'node' ` +
        'config or via --service-node and --service-cluster options.',
    );
  }
  if (source.resource_api_version === 'V2') {
    place
      .field('resource_api_version')
      .error('resources of the v2 API are not there any more', { expected: 'V3' });
  }
  for (const name of ['api_config_source', 'ads', 'self'] as const) {
    if (source[name] === undefined) continue;
    place
      .field(name)
      .error(`${name} of ${SOURCE.type} is not supported yet`, { expected: 'path_config_source' });
    return undefined;
  }
  if (source.path !== undefined) {
    const file = { path: source.path, watchesWrites: false };
    return checkBacking(source.path, place.field('path')) ? file : undefined;
  }
  const at = place.field('path_config_source');
  return source.path_config_source && compilePath(source.path_config_source, at);
}

function compilePath(source: PathConfigSource, place: Place): FileSource | undefined {
  refuseOtherFields(place, source, PATH);
  const { path = '', watched_directory: watched } = source;
  if (watched) refuseOtherFields(place.field('watched_directory'), watched, WATCHED);
  if (!checkBacking(path, place.field('path'))) return undefined;
  const directory = watched?.path ?? '';
  if (watched && !checkBacking(directory, place.field('watched_directory').field('path'))) {
    return undefined;
  }
  return {
    path,
    ...(watched && { watchedDirectory: directory }),
    watchesWrites: watched?.watch_modify ?? false,
  };
}

/** As the real server: what is not there at the start is a mistake, not something to wait for. */
function checkBacking(path: string, place: Place): boolean {
  if (existsSync(path)) return true;
  place.error(`paths must refer to an existing path in the system: '${path}' does not exist`, {
    expected: 'a file that is there before the server starts',
  });
  return false;
}
