// upstream_bind_config: where connections to hosts come from.
import type {
  envoy_config_core_v3_BindConfig as BindConfig,
  envoy_config_core_v3_ExtraSourceAddress as ExtraSource,
  envoy_config_core_v3_SocketOption as SocketOptionMessage,
} from '../../../build/messages.gen.js';
import { compileSourceAddress } from '../address/address.js';
import { compileSocketOptions } from '../address/socket-options.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { Address, SocketOption, SourceAddress } from '../plan.gen.js';

const BIND = supportedFields<BindConfig>('envoy.config.core.v3.BindConfig', [
  'source_address',
  'freebind',
  'socket_options',
  'extra_source_addresses',
  'additional_source_addresses',
  'local_address_selector',
]);
const EXTRA = supportedFields<ExtraSource>('envoy.config.core.v3.ExtraSourceAddress', [
  'address',
  'socket_options',
]);
const SELECTOR = 'envoy.config.upstream.local_address_selector.v3.DefaultLocalAddressSelector';

/** One source for each family at most. `cluster`: for what is said of errors. */
export function compileBind(config: BindConfig, place: Place, cluster: string): SourceAddress[] {
  refuseOtherFields(place, config, BIND);
  checkSelector(config, place);
  const options = config.socket_options ?? [];
  const freebind = config.freebind;
  const at = place.field('source_address');
  const own = config.source_address && compileSourceAddress(config.source_address, at);
  const others = compileOthers(config, place, cluster);
  const sources = [
    { address: own, options },
    ...others.map((other) => ({ ...other, options: other.options ?? options })),
  ];
  const [first, second] = sources;
  if (others.length > 1) {
    place.error(
      `Cluster ${cluster}'s upstream binding config has more than one extra/additional source addresses. Only one extra/additional source can be supported in BindConfig's extra_source_addresses/additional_source_addresses field`,
    );
  } else if (second && !config.source_address) {
    place.error(
      `Cluster ${cluster}'s upstream binding config has extra/additional source addresses but no source_address. Extra/additional addresses cannot be specified if source_address is not set.`,
    );
  } else if (second && first?.address?.ip?.length === second.address?.ip?.length) {
    place.error(
      `Cluster ${cluster}'s upstream binding config has two same IP version source addresses. Only two different IP version source addresses can be supported in BindConfig's source_address and extra_source_addresses/additional_source_addresses fields`,
    );
  }
  if (!config.source_address && options.length === 0 && !freebind) return [];
  return sources.map((source) => ({
    ...(source.address && { address: source.address }),
    socket_options: socketOptions(source.options, source.address),
    ...(freebind && { freebind }),
  }));
}

interface OtherSource {
  readonly address?: Address | undefined;
  readonly options?: readonly SocketOptionMessage[] | undefined;
}

function compileOthers(config: BindConfig, place: Place, cluster: string): OtherSource[] {
  const { extra_source_addresses: extra = [], additional_source_addresses: additional = [] } =
    config;
  if (extra.length > 0 && additional.length > 0) {
    place.error(
      `Can't specify both \`extra_source_addresses\` and \`additional_source_addresses\` in the Cluster ${cluster}'s upstream binding config`,
    );
  }
  const fromExtra = extra.map((message, index) => {
    const at = place.field('extra_source_addresses').index(index);
    refuseOtherFields(at, message, EXTRA);
    return {
      address: compileSourceAddress(message.address ?? {}, at.field('address')),
      options: message.socket_options?.socket_options,
    };
  });
  const fromAdditional = additional.map((message, index) => ({
    address: compileSourceAddress(message, place.field('additional_source_addresses').index(index)),
  }));
  return [...fromExtra, ...fromAdditional];
}

function socketOptions(
  options: readonly SocketOptionMessage[],
  address: Address | undefined,
): SocketOption[] {
  return compileSocketOptions(options, address?.ip).map((option) => ({
    ...option,
    level: option.level >>> 0,
    name: option.name >>> 0,
  }));
}

function checkSelector({ local_address_selector: selector }: BindConfig, place: Place): void {
  const type = selector?.typed_config?.$type;
  if (!selector || type === SELECTOR) return;
  place
    .field('local_address_selector')
    .error(`'${selector.name ?? ''}' (${type ?? ''}) is not supported yet as a selector`, {
      expected: SELECTOR,
    });
}
