// GET /listeners
import type {
  envoy_config_core_v3_Address as Address,
  envoy_config_listener_v3_Listener as Listener,
} from '../../../build/messages.gen.js';
import type { BoundAddress, ListenerStatus } from '../../base/listener-status.js';
import type { Endpoint } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { addressText, jsonReply } from '../http/http.js';

export function listenerEndpoints(host: AdminHost): Endpoint[] {
  return [
    {
      path: '/listeners',
      help: 'the listeners and the addresses that they are bound to',
      mutates: false,
      parameters: [{ name: 'format', help: 'The form of the answer', oneOf: ['text', 'json'] }],
      handle: ({ parameters }) => {
        const early = host.xds?.listeners()?.early ?? [];
        const listeners = [
          ...host.native.listeners(),
          ...early.map(({ message }) => statusOf(message)),
        ];
        if (parameters.get('format') === 'json') return jsonReply(listenersJson(listeners));
        return { body: listeners.map(textLines).join('') };
      },
    },
  ];
}

type ShownListener = Omit<ListenerStatus, 'statName'>;

/** Of one that has no socket before its routes are there. */
function statusOf({
  name = '',
  address,
  additional_addresses: more = [],
}: Listener): ShownListener {
  const moreAddresses = more.map((one) => boundTo(one.address));
  return { name, ...boundTo(address), ...(moreAddresses.length > 0 && { moreAddresses }) };
}

function boundTo({ socket_address: socket, pipe }: Address = {}): BoundAddress {
  if (pipe) return { address: pipe.path ?? '', port: 0 };
  return { address: socket?.address ?? '', port: socket?.port_value ?? 0 };
}

function textLines(listener: ShownListener): string {
  const { name, moreAddresses = [] } = listener;
  return [listener, ...moreAddresses]
    .map((one) => `${name}::${isPipe(one) ? one.address : addressText(one.address, one.port)}\n`)
    .join('');
}

function listenersJson(listeners: readonly ShownListener[]): object {
  if (listeners.length === 0) return {};
  return {
    listener_statuses: listeners.map((listener) => ({
      name: listener.name,
      local_address: addressJson(listener),
      ...(listener.moreAddresses && {
        additional_local_addresses: listener.moreAddresses.map((one) => addressJson(one)),
      }),
    })),
  };
}

function addressJson(bound: BoundAddress & Pick<ListenerStatus, 'internalListener'>): object {
  const { address, port, internalListener: internal } = bound;
  if (internal !== undefined) return { envoy_internal_address: { server_listener_name: internal } };
  return isPipe(bound)
    ? { pipe: { path: address } }
    : { socket_address: { address, port_value: port } };
}

/** Or what else has no port. */
function isPipe({
  address,
  internalListener,
}: BoundAddress & Pick<ListenerStatus, 'internalListener'>): boolean {
  return internalListener !== undefined || address.startsWith('/') || address.startsWith('@');
}
