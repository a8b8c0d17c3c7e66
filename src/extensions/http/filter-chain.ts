// The HTTP filters of a connection manager, in their order; the last one has to be the router.
import type { envoy_extensions_filters_network_http_connection_manager_v3_HttpFilter as HttpFilter } from '../../../build/messages.gen.js';
import type { CompileContext } from '../../plan/context.js';
import type { Place } from '../../plan/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/supported-fields.js';
import { findExtension } from '../extension.js';
import type { HttpFilterPlan } from './http-filter.js';

// A filter that is optional may be unknown to the real server; what is only unknown here is refused.
const FILTER = supportedFields<HttpFilter>(
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter',
  ['name', 'typed_config', 'is_optional', 'disabled'],
);

export function compileHttpFilters(
  filters: readonly HttpFilter[],
  place: Place,
  context: CompileContext,
): HttpFilterPlan['plan'] {
  if (filters.length === 0) {
    place.warn('no request will be answered before it times out', {
      expected: 'a router at the end',
    });
  }
  let plan: HttpFilterPlan['plan'] = {};
  filters.forEach((filter, index) => {
    const at = place.index(index);
    refuseOtherFields(at, { ...filter, disabled: undefined }, FILTER);
    const extension = findExtension(context.extensions.httpFilters, filter, at);
    if (!extension || !filter.typed_config) return;
    const compiled = extension.compile(filter.typed_config, at.field('typed_config'), context);
    checkOrder(filter, compiled.isTerminal, index === filters.length - 1, extension.name, at);
    plan = { ...plan, ...compiled.plan };
  });
  return plan;
}

function checkOrder(
  filter: HttpFilter,
  isTerminal: boolean,
  isLast: boolean,
  type: string,
  place: Place,
): void {
  const named = `named ${filter.name ?? ''} of type ${type}`;
  if (isTerminal && !isLast) {
    place.error(`Error: terminal filter ${named} must be the last filter in a http filter chain.`);
  } else if (!isTerminal && isLast) {
    place.error(`Error: non-terminal filter ${named} is the last filter in a http filter chain.`, {
      expected: 'envoy.filters.http.router after it',
    });
  } else if (isTerminal && filter.disabled) {
    place.error(
      `Error: the last (terminal) filter (${filter.name ?? ''}) in the chain cannot be disabled by default.`,
    );
  }
}
