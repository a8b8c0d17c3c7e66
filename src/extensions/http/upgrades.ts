// The upgrades that clients of a connection manager may ask for, some with filters of their own.
import type {
  envoy_extensions_filters_network_http_connection_manager_v3_HttpConnectionManager_UpgradeConfig as UpgradeConfig,
  envoy_extensions_filters_network_http_connection_manager_v3_HttpFilter as HttpFilter,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../../plan/extension.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { HttpConnectionManager, Router, UpgradeChain } from '../../plan/plan.gen.js';
import { upgradeName } from '../../plan/route/upgrades.js';
import { compileHttpFilters, type ChainPlan } from './filter-chain.js';

const UPGRADE = supportedFields<UpgradeConfig>(
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.UpgradeConfig',
  ['upgrade_type', 'enabled', 'filters'],
);

/** `router`: of the chain that all other requests pass. */
export function compileUpgrades(
  configs: readonly UpgradeConfig[],
  place: Place,
  context: CompileContext,
  router: Router | undefined,
): Pick<HttpConnectionManager, 'upgrades' | 'upgrade_filters'> {
  const known = new Set<string>();
  const compiled = configs.map((config, index) => {
    const at = place.index(index);
    refuseOtherFields(at, config, UPGRADE);
    const name = upgradeName(config.upgrade_type, at);
    if (known.has(name)) {
      at.error(
        `Error: multiple upgrade configs with the same name: '${config.upgrade_type ?? ''}'`,
      );
    }
    known.add(name);
    const own = compileOwnFilters(config.filters, at.field('filters'), context, router);
    return { name, enabled: config.enabled ?? true, ...own };
  });
  return {
    upgrades: compiled.map(({ name, enabled, chain }) => ({ name, enabled, chain })),
    upgrade_filters: compiled.flatMap(({ filters }) => filters),
  };
}

function compileOwnFilters(
  filters: readonly HttpFilter[] | undefined,
  place: Place,
  context: CompileContext,
  router: Router | undefined,
): { readonly chain?: UpgradeChain; readonly filters: NonNullable<ChainPlan['http_filters']> } {
  if (!filters || filters.length === 0) return { filters: [] };
  const own = compileHttpFilters(filters, place, context, 'http upgrade');
  // The router is the connection manager's: it speaks of all requests alike.
  if (JSON.stringify(own.router) !== JSON.stringify(router)) {
    place
      .index(filters.length - 1)
      .error('a router with settings of its own is not supported in the filters of an upgrade', {
        expected: 'the settings of the router in http_filters',
      });
  }
  const passed = own.http_filters ?? [];
  return { chain: { filters: passed.length }, filters: passed };
}
