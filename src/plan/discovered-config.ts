// What a configuration says of a filter that comes later (envoy.config.core.v3.ExtensionConfigSource),
// whichever chain it is of.
import type {
  Any,
  envoy_config_core_v3_ExtensionConfigSource as ExtensionConfigSource,
} from '../../build/messages.gen.js';
import { compileConfigSource } from './config-source.js';
import type { DiscoveredKind, DiscoveredPlace, Filling } from './discovered.js';
import { LateParts } from './late-parts.js';
import { HeldSecrets } from './live-sources.js';
import { findExtension, type CompileContext, type Extension } from './extension.js';
import { isKnown } from './known-extensions.js';
import { Place } from './message/place.js';
import type { Update } from './plan.gen.js';
import { refuseOtherFields, supportedFields } from './message/supported-fields.js';

const DISCOVERY = supportedFields<ExtensionConfigSource>(
  'envoy.config.core.v3.ExtensionConfigSource',
  ['config_source', 'default_config', 'apply_default_config_without_warming', 'type_urls'],
);
const EXTENSION = 'envoy.config.core.v3.TypedExtensionConfig';
const PREFIX = 'type.googleapis.com/';

type KindOfFilter = 'httpFilters' | 'networkFilters' | 'listenerFilters' | 'upstreamHttpFilters';

/** How a kind of chain takes a filter that comes later. */
export interface DiscoveredFilters<Compiled> {
  readonly kind: DiscoveredKind;
  readonly filters: KindOfFilter;
  /** Whether such a filter may stand there: what is wrong goes to `place`. Undefined: it may not. */
  readonly accept: (
    compiled: Compiled,
    extension: { readonly name: string },
    place: Place,
  ) => Compiled | undefined;
  /** What the data plane is told so that it, or nothing, is in its place. */
  readonly put: (filter: Compiled | undefined) => Update;
}

/**
 * Leaves a place for it with the context. What stands there first, which may be nothing; `undefined`
 * after an error.
 */
export function compileDiscovered<Compiled>(
  name: string,
  config: ExtensionConfigSource,
  place: Place,
  context: CompileContext,
  chain: DiscoveredFilters<Compiled>,
): { readonly first?: Compiled } | undefined {
  refuseOtherFields(place, config, DISCOVERY);
  const types = (config.type_urls ?? []).map(typeOf);
  const areTypesKnown = types
    .map((type, index) =>
      checkType(type, place.field('type_urls').index(index), context, chain.filters),
    )
    .every((isGood) => isGood);
  // As the real server, which does not look at that of network filters.
  const needsDefault =
    config.apply_default_config_without_warming && chain.kind !== 'network_filter';
  if (needsDefault && !config.default_config) {
    place.error(`Error: filter config ${name} applied without warming but has no default config.`, {
      expected: 'default_config',
    });
    return undefined;
  }
  const compile = (message: Any, at: Place, own = context): Compiled | undefined =>
    compileFilter(name, message, types, at, own, chain);
  const source = compileConfigSource(
    config.config_source,
    EXTENSION,
    place.field('config_source'),
    context,
  );
  if (!areTypesKnown || !source) return undefined;
  const fallback =
    config.default_config && compile(config.default_config, place.field('default_config'));
  if (config.default_config && !fallback) return undefined;
  const needsNoWarming = config.apply_default_config_without_warming ?? false;
  const ofFirst = new HeldSecrets(context.live);
  context.discovered.add({
    ...{ kind: chain.kind, name, source, needsNoWarming },
    ...fillings(context, chain, compile, fallback, ofFirst),
  });
  const latest = context.discovered.latest(chain.kind, name, source);
  // It goes with the chain, and sooner as another takes its place.
  const holdLive = (...held: Parameters<CompileContext['holdLive']>): void => {
    context.holdLive(...held);
    ofFirst.hold(...held);
  };
  const root = Place.root([]).reading(context.runtime);
  // It may be of another type than this place takes: then it is told of as it is filled.
  const now = latest && compile(latest, root, { ...context, holdLive });
  const first = now ?? (latest || needsNoWarming ? fallback : undefined);
  return first ? { first } : {};
}

/** Each filter that comes has parts of its own, which go as another takes its place. */
function fillings<Compiled>(
  context: CompileContext,
  { put }: DiscoveredFilters<Compiled>,
  compile: (message: Any, at: Place, own: CompileContext) => Compiled | undefined,
  fallback: Compiled | undefined,
  ofFirst: HeldSecrets,
): Pick<DiscoveredPlace, 'compile' | 'clear' | 'fallback' | 'onGone'> {
  let current: LateParts | undefined;
  const swap = (next: LateParts | undefined): Update => {
    const before = current;
    current = next;
    ofFirst.release();
    return LateParts.change(context.discovered, before, next);
  };
  const filling = (filter: Compiled | undefined, parts?: LateParts): Filling => ({
    update: () => ({ ...put(filter), ...(parts && { route_tables: parts.routes.tables }) }),
    onPlaced: () => swap(parts),
    ...(parts && { onDropped: () => parts.drop() }),
  });
  return {
    compile: (message, at) => {
      const parts = new LateParts(context);
      const filter = compile(message, at.reading(context.runtime), {
        ...context,
        ...parts.context,
      });
      if (filter) return filling(filter, parts);
      parts.drop();
      return undefined;
    },
    clear: filling(undefined),
    ...(fallback && { fallback: filling(fallback) }),
    onGone: () => swap(undefined),
  };
}

const typeOf = (url: string): string => (url.startsWith(PREFIX) ? url.slice(PREFIX.length) : url);

function checkType(
  type: string,
  place: Place,
  { extensions }: CompileContext,
  filters: KindOfFilter,
): boolean {
  const known: readonly Extension<unknown>[] = extensions[filters];
  const found = known.find((one) => one.type === type);
  if (found && !found.isDisabled) return true;
  if (!found && isKnown(filters, type)) {
    place.error(`the extension ${type} is not supported yet`);
  } else {
    place.error(`Error: no factory found for a required type URL ${PREFIX}${type}.`);
  }
  return false;
}

function compileFilter<Compiled>(
  name: string,
  message: Any,
  types: readonly string[],
  place: Place,
  context: CompileContext,
  { filters, accept }: DiscoveredFilters<Compiled>,
): Compiled | undefined {
  const { $type } = message;
  if (!types.includes($type)) {
    place.error(
      `Error: filter config has type URL ${PREFIX}${$type} but expect ${types.map((type) => PREFIX + type).join(', ')}.`,
    );
    return undefined;
  }
  const extension = findExtension(context, filters, { name, typed_config: message }, place);
  const compiled = extension?.compile(message, place, context) as Compiled | undefined;
  return extension && compiled && accept(compiled, extension, place);
}
