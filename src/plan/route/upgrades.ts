// Upgrades that a route allows, or forbids.
import type {
  envoy_config_route_v3_RouteAction_UpgradeConfig as UpgradeConfig,
  envoy_config_route_v3_RouteAction_UpgradeConfig_ConnectConfig as ConnectMessage,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { ConnectConfig, RouteUpgrade } from '../plan.gen.js';
import { compileProxyProtocol } from '../proxy-protocol.js';

const UPGRADE = supportedFields<UpgradeConfig>('envoy.config.route.v3.RouteAction.UpgradeConfig', [
  'upgrade_type',
  'enabled',
  'connect_config',
]);
const CONNECT = supportedFields<ConnectMessage>(
  'envoy.config.route.v3.RouteAction.UpgradeConfig.ConnectConfig',
  ['proxy_protocol_config', 'allow_post'],
);

export function compileRouteUpgrades(
  configs: readonly UpgradeConfig[] | undefined,
  place: Place,
  context: CompileContext,
): RouteUpgrade[] {
  const known = new Set<string>();
  return (configs ?? []).map((config, index) => {
    const at = place.index(index);
    refuseOtherFields(at, config, UPGRADE);
    const name = upgradeName(config.upgrade_type, at);
    if (known.has(name)) at.error(`Duplicate upgrade ${config.upgrade_type ?? ''}`);
    known.add(name);
    const connect = config.connect_config;
    if (connect && name !== 'connect') {
      at.error(`Non-CONNECT upgrade type ${config.upgrade_type ?? ''} has ConnectConfig`);
    }
    return {
      name,
      enabled: config.enabled ?? true,
      connect: connect && compileConnect(connect, at.field('connect_config'), context),
    };
  });
}

function compileConnect(
  config: ConnectMessage,
  place: Place,
  context: CompileContext,
): ConnectConfig {
  refuseOtherFields(place, config, CONNECT);
  const proxy = config.proxy_protocol_config;
  return {
    allows_post: config.allow_post,
    proxy_protocol:
      proxy && compileProxyProtocol(proxy, place.field('proxy_protocol_config'), context),
  };
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
