// envoy.load_balancing_policies.override_host
import type {
  envoy_extensions_load_balancing_policies_override_host_v3_OverrideHost as OverrideHost,
  envoy_extensions_load_balancing_policies_override_host_v3_OverrideHost_OverrideHostSource as Source,
  envoy_type_metadata_v3_MetadataKey as MetadataKey,
} from '../../../build/messages.gen.js';
import { choosePolicy } from '../../plan/cluster/policies.js';
import { defineExtension } from '../../plan/extension.js';
import type { BalancerPlan } from '../../plan/extension-plans.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import type { HostSource } from '../../plan/plan.gen.js';

const NAME = 'envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost';
const FIELDS = supportedFields<OverrideHost>(NAME, [
  'override_host_sources',
  'selected_host_key',
  'fallback_policy',
]);
const SOURCE = supportedFields<Source>(`${NAME}.OverrideHostSource`, ['header', 'metadata']);

export const overrideHost = defineExtension<OverrideHost, BalancerPlan | undefined>({
  name: 'envoy.load_balancing_policies.override_host',
  type: FIELDS.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, FIELDS);
    const at = place.field('override_host_sources');
    const sources = (config.override_host_sources ?? []).map((source, index) =>
      compileSource(source, at.index(index)),
    );
    const child = choosePolicy(config.fallback_policy, place.field('fallback_policy'), context);
    const told = config.selected_host_key;
    return (
      child && {
        ...child,
        host_overrides: {
          sources,
          told_namespace: told?.key,
          told_path: told && pathOf(told),
        },
      }
    );
  },
});

function compileSource(source: Source, place: Place): HostSource {
  refuseOtherFields(place, source, SOURCE);
  const { header, metadata } = source;
  if (!header && !metadata) {
    place.error('Empty override source', { expected: 'header, or metadata' });
  } else if (header && metadata) {
    place.error('Only one override source must be set', { expected: 'header, or metadata' });
  }
  return {
    header: header?.toLowerCase(),
    metadata_namespace: metadata?.key,
    metadata_path: metadata && pathOf(metadata),
  };
}

const pathOf = ({ path = [] }: MetadataKey): string[] => path.map(({ key = '' }) => key);
