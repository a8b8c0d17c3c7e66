// envoy.resource_monitors.global_downstream_max_connections: asked by each new connection, not at intervals.
import type { envoy_extensions_resource_monitors_downstream_connections_v3_DownstreamConnectionsConfig as DownstreamConnectionsConfig } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { MonitorPlan } from '../../plan/extension-plans.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';

const FIELDS = supportedFields<DownstreamConnectionsConfig>(
  'envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig',
  ['max_active_downstream_connections'],
);
const NAME = 'envoy.resource_monitors.global_downstream_max_connections';

export const downstreamConnections = defineExtension<
  DownstreamConnectionsConfig,
  MonitorPlan | undefined
>({
  name: NAME,
  type: FIELDS.type,
  compile(config, place) {
    refuseOtherFields(place, config, FIELDS);
    return { kind: 'connections', max: config.max_active_downstream_connections ?? 0 };
  },
});
