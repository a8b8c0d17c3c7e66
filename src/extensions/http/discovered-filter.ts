// HTTP filters whose configuration comes later.
import type { envoy_config_core_v3_ExtensionConfigSource as ExtensionConfigSource } from '../../../build/messages.gen.js';
import { nextDiscoveredId } from '../../plan/discovered.js';
import { compileDiscovered } from '../../plan/discovered-config.js';
import type { CompileContext } from '../../plan/extension.js';
import type { HttpFilterPlan } from '../../plan/extension-plans.js';
import type { Place } from '../../plan/message/place.js';
import type { HttpFilter, Router, Update } from '../../plan/plan.gen.js';
import { checkTerminal } from './filter-order.js';

const listed = (filter: HttpFilter | undefined): readonly HttpFilter[] => (filter ? [filter] : []);

/** Whose chain it is of: connection managers, or the tries that they make. */
type Filters = 'httpFilters' | 'upstreamHttpFilters';

/** One before the router, or of those that a matched filter has. Undefined after an error. */
export function compileDiscoveredFilter(
  name: string,
  config: ExtensionConfigSource,
  place: Place,
  context: CompileContext,
  chain = 'http',
  filters: Filters = 'httpFilters',
): HttpFilter | undefined {
  const id = nextDiscoveredId();
  const named = (plan: HttpFilterPlan | undefined): HttpFilter | undefined =>
    plan && !('router' in plan) ? { ...plan, name } : undefined;
  const found = compileDiscovered<HttpFilterPlan>(name, config, place, context, {
    kind: filters === 'httpFilters' ? 'http_filter' : 'upstream_http_filter',
    filters,
    accept: (plan, extension, at) =>
      checkTerminal('router' in plan, false, `${name} of type ${extension.name}`, chain, at)
        ? plan
        : undefined,
    put: (plan) => ({ discovered_filters: [{ id, filter: listed(named(plan)) }] }),
  });
  return found && { discovered: { id, filter: listed(named(found.first)) } };
}

/**
 * The last of a chain, which has to be a router once it comes: the filter answers requests until then.
 * Undefined after an error.
 */
export function compileDiscoveredRouter(
  name: string,
  config: ExtensionConfigSource,
  place: Place,
  context: CompileContext,
): { readonly filter: HttpFilter; readonly router: Router } | undefined {
  const id = nextDiscoveredId();
  const changeChain = context.changesChain?.();
  const routerOf = (plan: HttpFilterPlan | undefined): Router =>
    plan && 'router' in plan ? { ...plan.router, name } : { name };
  let told: Router | undefined;
  const found = compileDiscovered<HttpFilterPlan>(name, config, place, context, {
    kind: 'http_filter',
    filters: 'httpFilters',
    accept: (plan, extension, at) =>
      checkTerminal('router' in plan, true, `${name} of type ${extension.name}`, 'http', at)
        ? plan
        : undefined,
    put: (plan): Update => {
      const router = routerOf(plan);
      const isSame = !plan || JSON.stringify(router) === JSON.stringify(told);
      if (!isSame) told = router;
      return {
        discovered_filters: [{ id, is_router: plan !== undefined }],
        ...(!isSame &&
          changeChain?.((part) =>
            part.http ? { ...part, http: { ...part.http, router } } : part,
          )),
      };
    },
  });
  if (!found) return undefined;
  const router = routerOf(found.first);
  told = router;
  return { filter: { discovered: { id, is_router: found.first !== undefined } }, router };
}
