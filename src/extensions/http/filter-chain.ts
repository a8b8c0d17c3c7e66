// The HTTP filters of a connection manager, in their order; the last one has to be the router.
import type { envoy_extensions_filters_network_http_connection_manager_v3_HttpFilter as HttpFilter } from '../../../build/messages.gen.js';
import { compileDiscoveredFilter } from './discovered-filter.js';
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
    if (filter.config_discovery) {
      const plan = compileDiscovered(
        filter,
        filter.config_discovery,
        index,
        filters,
        at,
        chain,
        context,
      );
      if (plan) passed.push({ ...plan, name: filter.name, disabled: filter.disabled });
      return;
    }
    const extension = findExtension(context, 'httpFilters', filter, at);
    if (!extension || !filter.typed_config) return;
    const compiled = extension.compile(filter.typed_config, at.field('typed_config'), {
      ...context,
      httpFilterName: filter.name ?? '',
    });
    const position = { isTerminal: 'router' in compiled, isLast: index === filters.length - 1 };
    checkOrder(filter, position, `named ${filter.name ?? ''} of type ${extension.name}`, chain, at);
    if ('router' in compiled) router = { ...compiled.router, name: filter.name };
    else passed.push({ ...compiled, name: filter.name, disabled: filter.disabled });
  });
  if (passed.length > MAX_FILTERS) {
    place.error(`${passed.length} filters before the router are too many`, {
      expected: `at most ${MAX_FILTERS}`,
    });
  }
  return { router, http_filters: passed };
}

/** Undefined after an error. */
function compileDiscovered(
  { name = '' }: HttpFilter,
  config: NonNullable<HttpFilter['config_discovery']>,
  index: number,
  filters: readonly HttpFilter[],
  place: Place,
  chain: string,
  context: CompileContext,
): FilterPlan | undefined {
  const plan = compileDiscoveredFilter(name, config, place.field('config_discovery'), context);
  if (plan && index === filters.length - 1) {
    place.error(
      `Error: non-terminal filter named ${name} of type ${config.type_urls?.[0] ?? ''} is the last filter in a ${chain} filter chain.`,
      { expected: 'envoy.filters.http.router after it' },
    );
  }
  return plan;
}

function checkOrder(
  filter: HttpFilter,
  { isTerminal, isLast }: { readonly isTerminal: boolean; readonly isLast: boolean },
  named: string,
  chain: string,
  place: Place,
): void {
  if (isTerminal && !isLast) {
    place.error(
      `Error: terminal filter ${named} must be the last filter in a ${chain} filter chain.`,
    );
  } else if (!isTerminal && isLast) {
    place.error(
      `Error: non-terminal filter ${named} is the last filter in a ${chain} filter chain.`,
      {
        expected: 'envoy.filters.http.router after it',
      },
    );
  } else if (isTerminal && filter.disabled) {
    place.error(
      `Error: the last (terminal) filter (${filter.name ?? ''}) in the chain cannot be disabled by default.`,
    );
  }
}
