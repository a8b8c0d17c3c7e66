// Filters that only some requests pass, by a tree of matchers, and envoy.filters.http.composite: what
// such a tree names stands in the filter's place.
import type {
  Any,
  envoy_config_core_v3_ExtensionConfigSource as ExtensionConfigSource,
  envoy_extensions_common_matching_v3_ExtensionWithMatcher as WithMatcher,
  envoy_extensions_common_matching_v3_ExtensionWithMatcherPerRoute as PerRoute,
  envoy_extensions_filters_http_composite_v3_Composite as Composite,
  envoy_extensions_filters_http_composite_v3_CompositePerRoute as CompositePerRoute,
  envoy_extensions_filters_http_composite_v3_DynamicConfig as DynamicConfig,
  envoy_extensions_filters_http_composite_v3_ExecuteFilterAction as ExecuteFilter,
  envoy_extensions_filters_http_composite_v3_FilterChainConfiguration as FilterChain,
  xds_type_matcher_v3_Matcher as MatcherMessage,
} from '../../../build/messages.gen.js';
import { compileDiscoveredFilter } from './discovered-filter.js';
import {
  type CompileContext,
  defineHttpFilter,
  findExtension,
  type HttpFilterExtension,
  type Named,
} from '../../plan/extension.js';
import { unregistered } from '../../plan/known-extensions.js';
import { compileHttpTree } from '../../plan/match/http-tree.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { HttpFilter, MatchAction, MatchSettings } from '../../plan/plan.gen.js';

const MATCHING = 'envoy.extensions.common.matching.v3';
const COMPOSITE_PACKAGE = 'envoy.extensions.filters.http.composite.v3';
const SKIP = 'envoy.extensions.filters.common.matcher.action.v3.SkipFilter';
const WITH_MATCHER = supportedFields<WithMatcher>(`${MATCHING}.ExtensionWithMatcher`, [
  'extension_config',
  'xds_matcher',
]);
const PER_ROUTE = supportedFields<PerRoute>(`${MATCHING}.ExtensionWithMatcherPerRoute`, [
  'xds_matcher',
]);
const COMPOSITE = supportedFields<Composite>(`${COMPOSITE_PACKAGE}.Composite`, [
  'named_filter_chains',
  'matcher',
]);
const COMPOSITE_PER_ROUTE = supportedFields<CompositePerRoute>(
  `${COMPOSITE_PACKAGE}.CompositePerRoute`,
  ['matcher'],
);
const EXECUTE = supportedFields<ExecuteFilter>(`${COMPOSITE_PACKAGE}.ExecuteFilterAction`, [
  'typed_config',
  'dynamic_config',
  'filter_chain',
  'filter_chain_name',
  'sample_percent',
]);
const DYNAMIC = supportedFields<DynamicConfig>(`${COMPOSITE_PACKAGE}.DynamicConfig`, [
  'name',
  'config_discovery',
]);

/** What actions of a tree may name. */
interface ActionParts {
  /** Chains that a composite filter has by name. */
  readonly named: ReadonlyMap<string, readonly HttpFilter[]>;
  /** A filter of the chain has the tree, not a route: filters may come later. */
  readonly isOfChain: boolean;
}

const OF_CHAIN: ActionParts = { named: new Map(), isOfChain: true };
const OF_ROUTE: ActionParts = { named: new Map(), isOfChain: false };

/** The type of the filter's own message, where another one is around it. */
export function ownType(config: Any | undefined): string {
  if (config?.$type !== WITH_MATCHER.type) return config?.$type ?? '';
  return (config as WithMatcher).extension_config?.typed_config?.$type ?? '';
}

export const matchDelegate: HttpFilterExtension = defineHttpFilter<WithMatcher, PerRoute>({
  name: 'envoy.filters.http.match_delegate',
  type: WITH_MATCHER.type,
  compile(message, place, context) {
    refuseOtherFields(place, message, WITH_MATCHER);
    const at = place.field('extension_config');
    const inner = compileFilter(message.extension_config ?? {}, at, context);
    const tree = place.field('xds_matcher');
    const match = compileSettings(message.xds_matcher, tree, context, OF_CHAIN);
    if (inner && 'router' in inner) {
      at.error('a router that only some requests come to is not supported');
      return inner;
    }
    return { ...inner, match };
  },
  byRoute: {
    type: PER_ROUTE.type,
    compile(message, place, context) {
      refuseOtherFields(place, message, PER_ROUTE);
      const at = place.field('xds_matcher');
      return { match: compileSettings(message.xds_matcher, at, context, OF_ROUTE) };
    },
  },
});

export const composite: HttpFilterExtension = defineHttpFilter<Composite, CompositePerRoute>({
  name: 'envoy.filters.http.composite',
  type: COMPOSITE.type,
  compile(message, place, context) {
    refuseOtherFields(place, message, COMPOSITE);
    const named = new Map(
      Object.entries(message.named_filter_chains ?? {}).map(([name, chain]) => [
        name,
        compileChain(chain, place.field('named_filter_chains').field(name), context),
      ]),
    );
    const { matcher } = message;
    return {
      composite: {},
      match:
        matcher &&
        compileSettings(matcher, place.field('matcher'), context, { named, isOfChain: true }),
    };
  },
  byRoute: {
    type: COMPOSITE_PER_ROUTE.type,
    compile(message, place, context) {
      refuseOtherFields(place, message, COMPOSITE_PER_ROUTE);
      const at = place.field('matcher');
      return { match: compileSettings(message.matcher, at, context, OF_ROUTE) };
    },
  },
});

function compileSettings(
  matcher: MatcherMessage | undefined,
  place: Place,
  context: CompileContext,
  parts: ActionParts,
): MatchSettings {
  const actions: MatchAction[] = [];
  const tree = compileHttpTree(matcher ?? {}, place, context.runtime, (config, name, at) => {
    const action = compileAction(config, name, at, context, parts);
    return action && actions.push(action) - 1;
  });
  return { tree, actions };
}

function compileAction(
  config: Any,
  name: string,
  place: Place,
  context: CompileContext,
  parts: ActionParts,
): MatchAction | undefined {
  if (config.$type === SKIP) return { skips: true };
  if (config.$type !== EXECUTE.type) {
    place.error(unregistered(name, config.$type), { expected: `${SKIP} or ${EXECUTE.type}` });
    return undefined;
  }
  const inner = place.within(EXECUTE.type);
  refuseOtherFields(inner, config, EXECUTE);
  const message = config as ExecuteFilter;
  const { sample_percent: sample } = message;
  const share = sample && context.runtime.liveMillionths(sample.runtime_key, sample.default_value);
  const filters = compileExecuted(message, inner, context, parts);
  return {
    name: executedName(message),
    filters,
    share: share && { millionths: share.value, slot: share.slot },
  };
}

/** What the filter state says of it. */
function executedName(message: ExecuteFilter): string {
  if (message.filter_chain) return 'filter_chain';
  const single = message.dynamic_config ?? message.typed_config;
  return single ? (single.name ?? '') : (message.filter_chain_name ?? '');
}

function compileExecuted(
  message: ExecuteFilter,
  place: Place,
  context: CompileContext,
  { named, isOfChain }: ActionParts,
): readonly HttpFilter[] {
  const { dynamic_config: later, filter_chain: chain, typed_config: config } = message;
  if (chain) return compileChain(chain, place.field('filter_chain'), context);
  if (later) {
    const at = place.field('dynamic_config');
    refuseOtherFields(at, later, DYNAMIC);
    if (!isOfChain) {
      at.error('a filter that comes later (dynamic_config) is not supported in routes', {
        expected: 'typed_config, or dynamic_config in the connection manager',
      });
      return [];
    }
    const { name = '', config_discovery: discovery = {} } = later;
    const where = at.field('config_discovery');
    return passed(
      compileDiscoveredFilter(name, discovery as ExtensionConfigSource, where, context),
    );
  }
  if (config) return passed(compileFilter(config, place.field('typed_config'), context));
  return named.get(message.filter_chain_name ?? '') ?? [];
}

function compileChain(
  message: FilterChain,
  place: Place,
  context: CompileContext,
): readonly HttpFilter[] {
  const at = place.field('typed_config');
  return (message.typed_config ?? []).flatMap((one, index) =>
    passed(compileFilter(one, at.index(index), context)),
  );
}

type Compiled = ReturnType<typeof compileFilter>;

/** A terminal filter, which nothing passes, was refused. */
const passed = (filter: Compiled): readonly HttpFilter[] =>
  filter && !('router' in filter) ? [filter] : [];

/** Undefined after an error. */
function compileFilter(
  named: Named,
  place: Place,
  context: CompileContext,
): HttpFilter | ReturnType<HttpFilterExtension['compile']> | undefined {
  const extension = findExtension(context, 'httpFilters', named, place);
  if (!extension || !named.typed_config) return undefined;
  const compiled = extension.compile(named.typed_config, place.field('typed_config'), context);
  if ('router' in compiled) {
    place.error(`the terminal filter ${extension.name} may not be chosen by a tree`);
    return compiled;
  }
  return { ...compiled, name: named.name };
}
