// Upgrades that a route allows, or forbids.
import type { envoy_config_route_v3_RouteAction_UpgradeConfig as UpgradeConfig } from '../../../build/messages.gen.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { RouteUpgrade } from '../plan.gen.js';

const UPGRADE = supportedFields<UpgradeConfig>('envoy.config.route.v3.RouteAction.UpgradeConfig', [
  'upgrade_type',
  'enabled',
]);

export function compileRouteUpgrades(
  configs: readonly UpgradeConfig[] | undefined,
  place: Place,
): RouteUpgrade[] {
  const known = new Set<string>();
  return (configs ?? []).map((config, index) => {
    const at = place.index(index);
    refuseOtherFields(at, config, UPGRADE);
    const name = upgradeName(config.upgrade_type, at);
    if (known.has(name)) at.error(`Duplicate upgrade ${config.upgrade_type ?? ''}`);
    known.add(name);
    return { name, enabled: config.enabled ?? true };
  });
}

/** Names are compared without regard to case. */
export function upgradeName(type: string | undefined, place: Place): string {
  const name = (type ?? '').toLowerCase();
  if (name === 'connect-udp') {
    place.field('upgrade_type').error('the upgrade CONNECT-UDP is not supported', {
      expected: 'websocket, CONNECT or another protocol over TCP',
    });
  }
  return name;
}
