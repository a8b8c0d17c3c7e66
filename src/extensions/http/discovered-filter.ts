// An HTTP filter whose configuration comes later.
import type { envoy_config_core_v3_ExtensionConfigSource as ExtensionConfigSource } from '../../../build/messages.gen.js';
import { nextDiscoveredId } from '../../plan/discovered.js';
import { compileDiscovered } from '../../plan/discovered-config.js';
import type { CompileContext } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import type { Place } from '../../plan/message/place.js';
import type { HttpFilter } from '../../plan/plan.gen.js';

const listed = (filter: HttpFilter | undefined): readonly HttpFilter[] => (filter ? [filter] : []);

/** Undefined after an error. */
export function compileDiscoveredFilter(
  name: string,
  config: ExtensionConfigSource,
  place: Place,
  context: CompileContext,
): HttpFilter | undefined {
  const id = nextDiscoveredId();
  const named = (plan: HttpFilterPlan | undefined): HttpFilter | undefined =>
    plan && !('router' in plan) ? { ...plan, name } : undefined;
  const found = compileDiscovered<HttpFilterPlan>(name, config, place, context, {
    kind: 'http_filter',
    filters: 'httpFilters',
    fixed: { 'envoy.filters.http.router': 'the router' },
    accept: (plan) => plan,
    put: (plan) => () => ({ discovered_filters: [{ id, filter: listed(named(plan)) }] }),
  });
  return found && { discovered: { id, filter: listed(named(found.first)) } };
}
