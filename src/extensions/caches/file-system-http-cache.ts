// envoy.extensions.http.cache.file_system_http_cache: in files of a folder, which has to be there.
import type {
  envoy_extensions_common_async_files_v3_AsyncFileManagerConfig as ManagerConfig,
  envoy_extensions_http_cache_file_system_http_cache_v3_FileSystemHttpCacheConfig as Message,
} from '../../../build/messages.gen.js';
import { type CompileContext, defineExtension } from '../../plan/extension.js';
import type { CacheStore } from '../../plan/extension-plans.js';
import {
  refuseOtherFields,
  supportedFields,
  tellHidden,
} from '../../plan/message/supported-fields.js';
import type { FileCache } from '../../plan/plan.gen.js';

const HIDDEN = [
  'max_individual_cache_entry_size_bytes',
  'cache_subdivisions',
  'evict_fraction',
  'max_eviction_period',
  'min_eviction_period',
  'create_cache_path',
] as const;
const FIELDS = supportedFields<Message>(
  'envoy.extensions.http.cache.file_system_http_cache.v3.FileSystemHttpCacheConfig',
  ['manager_config', 'cache_path', 'max_cache_size_bytes', 'max_cache_entry_count', ...HIDDEN],
);
const MANAGER = supportedFields<ManagerConfig>(
  'envoy.extensions.common.async_files.v3.AsyncFileManagerConfig',
  ['id', 'thread_pool'],
);

/** What each configuration has said of its paths and managers: twice of one, it is the same. */
const said = new WeakMap<CompileContext['grpcClusters'], Map<string, string>>();

/** Whether nothing else was said of that path or manager by the same configuration. */
function isSame(context: CompileContext, name: string, settings: object): boolean {
  const all = said.get(context.grpcClusters) ?? new Map<string, string>();
  said.set(context.grpcClusters, all);
  const text = JSON.stringify(settings);
  if (!all.has(name)) all.set(name, text);
  return all.get(name) === text;
}

export const fileSystemHttpCache = defineExtension<Message, CacheStore | undefined>({
  name: 'envoy.extensions.http.cache.file_system_http_cache',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    tellHidden(place, config, HIDDEN);
    const manager: Partial<ManagerConfig> = config.manager_config ?? {};
    const at = place.field('manager_config');
    refuseOtherFields(at, manager, MANAGER);
    if (!manager.thread_pool) {
      at.error('unrecognized AsyncFileManagerConfig::ManagerType', { expected: 'thread_pool: {}' });
    }
    const { cache_path = '' } = config;
    const path = cache_path.endsWith('/') ? cache_path : `${cache_path}/`;
    const cache: FileCache = {
      path,
      max_bytes: config.max_cache_size_bytes,
      max_entries: config.max_cache_entry_count,
      manager: manager.id,
      threads: manager.thread_pool?.thread_count,
    };
    if (!isSame(context, path, cache)) {
      place.error(`mismatched FileSystemHttpCacheConfig with same path ${path}`);
    }
    if (!isSame(context, `manager ${cache.manager ?? ''}`, { threads: cache.threads ?? 0 })) {
      at.error(`AsyncFileManager mismatched config with the same id "${cache.manager ?? ''}"`);
    }
    return { files: cache };
  },
});
