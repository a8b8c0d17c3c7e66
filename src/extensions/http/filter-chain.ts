// The HTTP filters of a connection manager, in their order; the last one has to be the router.
import type { envoy_extensions_filters_network_http_connection_manager_v3_HttpFilter as HttpFilter } from '../../../build/messages.gen.js';
import { compileDiscoveredFilter, compileDiscoveredRouter } from './discovered-filter.js';
import { checkTerminal } from './filter-order.js';
import { type CompileContext, findExtension } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';
import type {
  HttpConnectionManager,
  HttpFilter as FilterPlan,
  Router,
} from '../../plan/plan.gen.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

export type ChainPlan = Pick<HttpConnectionManager, 'router' | 'http_filters'>;

// A filter that is optional may be unknown to the real server; what is only unknown here is refused.
const FILTER = supportedFields<HttpFilter>(
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter',
  ['name', 'typed_config', 'config_discovery', 'is_optional', 'disabled'],
);
/** Routes switch filters by the bits of a number. */
const MAX_FILTERS = 63;

export function compileHttpFilters(
  filters: readonly HttpFilter[],
  place: Place,
  context: CompileContext,
  chain: 'http' | 'http upgrade' = 'http',
): ChainPlan {
  if (filters.length === 0) {
    place.warn('no request will be answered before it times out', {
      expected: 'a router at the end',
    });
  }
  let router: Router | undefined;
  const passed: FilterPlan[] = [];
  filters.forEach((filter, index) => {
    const at = place.index(index);
    refuseOtherFields(at, { ...filter, disabled: undefined }, FILTER);
    const isLast = index === filters.length - 1;
    const { name = '', config_discovery: later } = filter;
    if (isLast && filter.disabled) {
      at.error(
        `Error: the last (terminal) filter (${name}) in the chain cannot be disabled by default.`,
      );
    }
    if (later) {
      const found = compileLater(name, later, at.field('config_discovery'), context, {
        ...{ isLast, chain },
      });
      if (found?.router) router = found.router;
      if (found) passed.push({ ...found.filter, name, disabled: filter.disabled });
      return;
    }
    const extension = findExtension(context, 'httpFilters', filter, at);
    if (!extension || !filter.typed_config) return;
    const compiled = extension.compile(filter.typed_config, at.field('typed_config'), {
      ...context,
      httpFilterName: name,
    });
    checkTerminal('router' in compiled, isLast, `${name} of type ${extension.name}`, chain, at);
    if ('router' in compiled) router = { ...compiled.router, name };
    else passed.push({ ...compiled, name, disabled: filter.disabled });
  });
  if (passed.length > MAX_FILTERS) {
    place.error(`${passed.length} filters before the router are too many`, {
      expected: `at most ${MAX_FILTERS}`,
    });
  }
  return { router, http_filters: passed };
}

/** Undefined after an error. */
function compileLater(
  name: string,
  config: NonNullable<HttpFilter['config_discovery']>,
  place: Place,
  context: CompileContext,
  { isLast, chain }: { readonly isLast: boolean; readonly chain: 'http' | 'http upgrade' },
): { readonly filter: FilterPlan; readonly router?: Router } | undefined {
  if (!isLast) {
    const filter = compileDiscoveredFilter(name, config, place, context, chain);
    return filter && { filter };
  }
  if (chain === 'http') return compileDiscoveredRouter(name, config, place, context);
  // All requests of a connection manager have one router.
  place.error('the router of an upgrade by config_discovery is not supported', {
    expected: 'envoy.filters.http.router',
  });
  return undefined;
}
