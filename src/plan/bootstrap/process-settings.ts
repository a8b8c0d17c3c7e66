// What a bootstrap says of the process as a whole: its memory, its resolver, what few servers have a
// use for.
import { setHeaderPrefix } from '../../base/own-headers.js';
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_bootstrap_v3_CustomInlineHeader as InlineHeader,
  envoy_config_bootstrap_v3_MemoryAllocatorManager as MemoryManager,
} from '../../../build/messages.gen.js';
import type { Issue } from '../../config/issues/issue.js';
import { compileResolver, type ResolverPlan } from '../dns-resolver.js';
import { unregistered } from '../known-extensions.js';
import { wholeMs } from '../message/numbers.js';
import { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Update } from '../plan.gen.js';

const MEMORY = supportedFields<MemoryManager>('envoy.config.bootstrap.v3.MemoryAllocatorManager', [
  'bytes_to_release',
  'memory_release_interval',
  'soft_memory_limit_bytes',
  'max_per_cpu_cache_size_bytes',
  'max_unfreed_memory_bytes',
]);
const INLINE = supportedFields<InlineHeader>('envoy.config.bootstrap.v3.CustomInlineHeader', [
  'inline_header_name',
  'inline_header_type',
]);

const DEFAULT_RELEASE_MS = 1000;
const DEFAULT_FLUSH_MS = 5000;
const SOCKET_INTERFACE = 'envoy.extensions.network.socket_interface.default_socket_interface';

export interface ProcessSettings {
  readonly update: Pick<
    Update,
    | 'header_prefix'
    | 'pins_workers'
    | 'joined_request_headers'
    | 'joined_response_headers'
    | 'times_turns'
  >;
  /** Memory that nobody uses goes back to the system so often; 0: never. */
  readonly memoryReleaseMs: number;
}

/** `start`: where goes what only a start looks at. */
export function compileProcessSettings(
  bootstrap: Bootstrap,
  place: Place,
  start: Place,
): ProcessSettings {
  setHeaderPrefix(bootstrap.header_prefix ?? '');
  (bootstrap.fatal_actions ?? []).forEach(({ config = {} }, index) => {
    const { name = '', typed_config: typed } = config;
    start
      .field('fatal_actions')
      .index(index)
      .field('config')
      .error(unregistered(name, typed?.$type ?? ''), { expected: 'no actions: there are none' });
  });
  const socket = bootstrap.default_socket_interface;
  if (socket && socket !== SOCKET_INTERFACE) {
    place.field('default_socket_interface').warn(`has no effect: there is no '${socket}'`, {
      expected: SOCKET_INTERFACE,
    });
  }
  if (bootstrap.perf_tracing_file_path) {
    place
      .field('perf_tracing_file_path')
      .warn('has no effect, as in a server that was built without perf tracing');
  }
  checkEviction(bootstrap, place);
  return {
    update: {
      header_prefix: bootstrap.header_prefix,
      pins_workers: bootstrap.enable_worker_cpu_affinity,
      times_turns: bootstrap.enable_dispatcher_stats,
      ...compileInlineHeaders(bootstrap.inline_headers, place.field('inline_headers')),
    },
    memoryReleaseMs: compileMemory(
      bootstrap.memory_allocator_manager,
      place.field('memory_allocator_manager'),
    ),
  };
}

/**
 * Who answers for names, where clusters do not say so themselves; undefined: the system's servers. As in
 * the real server it is looked at once a cluster asks for it, and what is wrong with it is wrong there.
 */
export function defaultResolverOf(
  bootstrap: Bootstrap,
): (asker: Place) => ResolverPlan | undefined {
  let made:
    { readonly plan: ResolverPlan | undefined; readonly issues: readonly Issue[] } | undefined;
  return (asker) => {
    if (!made) {
      const issues: Issue[] = [];
      made = { plan: compileResolver(bootstrap, Place.root(issues)), issues };
    }
    for (const { path, message, expected } of made.issues) {
      asker.error(`${message} (the bootstrap's ${path})`, { expected });
    }
    return made.plan;
  };
}

/** What there is to evict is kept by none of the statistics here. */
function checkEviction(bootstrap: Bootstrap, place: Place): void {
  const evictionMs = wholeMs(bootstrap.stats_eviction_interval, 0);
  const flushMs = wholeMs(bootstrap.stats_flush_interval, DEFAULT_FLUSH_MS);
  if (evictionMs === 0 || bootstrap.stats_flush_on_admin || evictionMs % flushMs === 0) return;
  place
    .field('stats_eviction_interval')
    .error('stats_eviction_interval must be a multiple of stats_flush_interval');
}

function compileMemory(message: MemoryManager | undefined, place: Place): number {
  if (!message) return 0;
  refuseOtherFields(place, message, MEMORY);
  for (const name of [
    'soft_memory_limit_bytes',
    'max_per_cpu_cache_size_bytes',
    'max_unfreed_memory_bytes',
  ] as const) {
    if (message[name] !== undefined && message[name] !== 0) {
      place.field(name).warn('has no effect: it is a setting of tcmalloc, which is not used here');
    }
  }
  if (!message.bytes_to_release) return 0;
  return wholeMs(message.memory_release_interval, DEFAULT_RELEASE_MS) || DEFAULT_RELEASE_MS;
}

function compileInlineHeaders(
  headers: readonly InlineHeader[] | undefined,
  place: Place,
): Pick<Update, 'joined_request_headers' | 'joined_response_headers'> {
  const named = (wanted: InlineHeader['inline_header_type']): string[] =>
    (headers ?? [])
      .filter(({ inline_header_type: type = 'REQUEST_HEADER' }) => type === wanted)
      .map(({ inline_header_name: name = '' }) => name.toLowerCase());
  (headers ?? []).forEach((header, index) => {
    refuseOtherFields(place.index(index), header, INLINE);
    if (header.inline_header_type?.endsWith('TRAILER')) {
      place
        .index(index)
        .field('inline_header_type')
        .error(`${header.inline_header_type} is not supported: trailers are not joined`);
    }
  });
  return {
    joined_request_headers: named('REQUEST_HEADER'),
    joined_response_headers: named('RESPONSE_HEADER'),
  };
}
