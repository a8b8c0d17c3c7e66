// Extensions by category and name, as --disable-extensions and /server_info call them.
import { formerName } from '../config/v2/v2-extensions.js';
import type { Extension, Registry } from '../plan/extension.js';

const CATEGORIES: Readonly<Record<keyof Registry, string>> = {
  listenerFilters: 'envoy.filters.listener',
  networkFilters: 'envoy.filters.network',
  httpFilters: 'envoy.filters.http',
  upstreamHttpFilters: 'envoy.filters.http.upstream',
  accessLoggers: 'envoy.access_loggers',
  downstreamTransportSockets: 'envoy.transport_sockets.downstream',
  upstreamTransportSockets: 'envoy.transport_sockets.upstream',
  protocolOptions: 'envoy.upstream_options',
  balancers: 'envoy.load_balancing_policies',
  retryHostPredicates: 'envoy.retry_host_predicates',
  retryPriorities: 'envoy.retry_priorities',
  statSinks: 'envoy.stats_sinks',
  resourceMonitors: 'envoy.resource_monitors',
  tracers: 'envoy.tracers',
  responsePolicies: 'envoy.http.custom_response',
  caches: 'envoy.http.cache',
  encoders: 'envoy.compression.compressor',
  decoders: 'envoy.compression.decompressor',
  watchdogActions: 'envoy.guarddog_actions',
};

export interface ListedExtension {
  readonly category: string;
  readonly name: string;
  /** Full name of the message that configures it. */
  readonly type: string;
  readonly isDisabled: boolean;
}

type Kind = readonly [key: keyof Registry, extensions: readonly Extension<unknown>[]];

const kindsOf = (registry: Registry): readonly Kind[] =>
  (Object.keys(CATEGORIES) as (keyof Registry)[]).map((key) => [key, registry[key]]);

export function listExtensions(registry: Registry): readonly ListedExtension[] {
  return kindsOf(registry).flatMap(([key, extensions]) =>
    extensions.map(({ name, type, isDisabled = false }) => ({
      category: CATEGORIES[key],
      name,
      type,
      isDisabled,
    })),
  );
}

export interface Disabling {
  readonly registry: Registry;
  /** What became of each name, in the words of the real server. */
  readonly outcomes: readonly { readonly isDisabled: boolean; readonly message: string }[];
}

/** `names`: category/name each. What is disabled stays known, so that its use can be explained. */
export function disableExtensions(registry: Registry, names: readonly string[]): Disabling {
  const wanted = new Set(names);
  const found = new Set<string>();
  const mark = <Compiled>(
    key: keyof Registry,
    extensions: readonly Extension<Compiled>[],
  ): readonly Extension<Compiled>[] =>
    extensions.map((extension) => {
      const own = namesOf(extension).map((name) => `${CATEGORIES[key]}/${name}`);
      const hits = own.filter((name) => wanted.has(name));
      for (const name of hits) found.add(name);
      return hits.length > 0 ? { ...extension, isDisabled: true } : extension;
    });
  // The cast holds: every list keeps its kind of extensions.
  const marked = Object.fromEntries(
    kindsOf(registry).map(([key, extensions]) => [key, mark(key, extensions)]),
  ) as unknown as Registry;
  return {
    registry: marked,
    outcomes: names.map((name) => ({ isDisabled: found.has(name), message: say(name, found) })),
  };
}

/** Its name, and the one that it had in v2. */
function namesOf({ name, type }: Extension<unknown>): readonly string[] {
  const former = formerName(type);
  return former === undefined ? [name] : [name, former];
}

function say(name: string, found: ReadonlySet<string>): string {
  if (found.has(name)) return `disabled extension '${name}'`;
  const kind = name.includes('/') ? 'unknown extension' : 'invalid extension name';
  return `failed to disable ${kind} '${name}'`;
}
