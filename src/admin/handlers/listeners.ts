// GET /listeners
import type { ListenerStatus } from '../../native.js';
import type { Server } from '../../server/server.js';
import type { Endpoint } from '../endpoints.js';

export function listenerEndpoints(server: Server): Endpoint[] {
  return [
    {
      path: '/listeners',
      help: 'print listener info',
      mutates: false,
      parameters: [{ name: 'format', help: 'File format to use', oneOf: ['text', 'json'] }],
      handle: ({ query }) => {
        const listeners = server.native.listeners();
        if (query.get('format') !== 'json') {
          return { body: listeners.map((listener) => `${listener.name}::${addressText(listener)}\n`).join('') };
        }
        const statuses = listeners.map((listener) => ({ name: listener.name, local_address: addressJson(listener) }));
        return { type: 'json', body: `${JSON.stringify(statuses.length === 0 ? {} : { listener_statuses: statuses }, null, 1)}\n` };
      },
    },
  ];
}

function addressText({ address, port }: ListenerStatus): string {
  if (address.startsWith('/') || address.startsWith('@')) return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function addressJson({ address, port }: ListenerStatus): object {
  if (address.startsWith('/') || address.startsWith('@')) return { pipe: { path: address } };
  return { socket_address: { address, port_value: port } };
}
