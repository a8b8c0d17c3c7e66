// The HTTP filters that tries pass on their way to hosts, of a cluster or of a router, in their order; the
// last one has to be the codec.
import type { envoy_extensions_filters_network_http_connection_manager_v3_HttpFilter as HttpFilter } from '../../../build/messages.gen.js';
import { compileDiscoveredFilter } from './discovered-filter.js';
import { type CompileContext, findExtension } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { HttpFilter as FilterPlan } from '../../plan/plan.gen.js';

export const UPSTREAM_CODEC = 'envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec';

const FILTER = supportedFields<HttpFilter>(
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter',
  ['name', 'typed_config', 'config_discovery', 'is_optional', 'disabled'],
);
/** They are switched by the bits of a number. */
const MAX_FILTERS = 63;

/** What the real server calls such a chain. */
export type UpstreamChain = 'upstream http' | 'router upstream http';

export function compileUpstreamFilters(
  filters: readonly HttpFilter[] | undefined,
  place: Place,
  context: CompileContext,
  chain: UpstreamChain,
): FilterPlan[] {
  if (!filters || filters.length === 0) return [];
  checkEnd(filters, place, context, chain);
  // What stands in another's place has to be one of these, too.
  const { extensions } = context;
  const inner = {
    ...context,
    extensions: { ...extensions, httpFilters: extensions.upstreamHttpFilters },
  };
  const plans = filters.slice(0, -1).flatMap((filter, index): FilterPlan[] => {
    const at = place.index(index);
    // Only filters of routes know what switches one off.
    refuseOtherFields(at, { ...filter, disabled: undefined }, FILTER);
    const { name = '', disabled, config_discovery: later } = filter;
    if (later) {
      const where = at.field('config_discovery');
      const found = compileDiscoveredFilter(
        name,
        later,
        where,
        inner,
        chain,
        'upstreamHttpFilters',
      );
      return found ? [{ ...found, name, disabled }] : [];
    }
    const extension = findExtension(context, 'upstreamHttpFilters', filter, at);
    if (!extension || !filter.typed_config) return [];
    const plan = extension.compile(filter.typed_config, at.field('typed_config'), inner);
    return 'router' in plan ? [] : [{ ...plan, name: filter.name, disabled }];
  });
  if (plans.length > MAX_FILTERS) {
    place.error(`${plans.length} filters before the codec are too many`, {
      expected: `at most ${MAX_FILTERS}`,
    });
  }
  return plans;
}

function checkEnd(
  filters: readonly HttpFilter[],
  place: Place,
  context: CompileContext,
  chain: UpstreamChain,
): void {
  const isCodec = ({ typed_config: config }: HttpFilter): boolean =>
    config?.$type === UPSTREAM_CODEC;
  const last = filters.at(-1)!;
  const at = place.index(filters.length - 1);
  const early = filters.slice(0, -1).findIndex(isCodec);
  if (last.config_discovery) {
    at.field('config_discovery').error('the codec by config_discovery is not supported', {
      expected: UPSTREAM_CODEC,
    });
  } else if (!isCodec(last) && chain === 'upstream http') {
    at.error(
      `The codec filter is the only valid terminal upstream HTTP filter, use '${UPSTREAM_CODEC}'`,
    );
  } else if (early !== -1) {
    place
      .index(early)
      .error(
        `Error: terminal filter named ${filters[early]?.name ?? ''} of type envoy.filters.http.upstream_codec must be the last filter in a ${chain} filter chain.`,
      );
  } else if (!isCodec(last)) {
    const extension = findExtension(context, 'upstreamHttpFilters', last, at);
    if (!extension) return;
    at.error(
      `Error: non-terminal filter named ${last.name ?? ''} of type ${extension.name} is the last filter in a ${chain} filter chain. When upstream_http_filters are specified, they must explicitly end with an UpstreamCodec filter.`,
    );
  } else if (last.disabled) {
    at.error(
      `Error: the last (terminal) filter (${last.name ?? ''}) in the chain cannot be disabled by default.`,
    );
  }
}
