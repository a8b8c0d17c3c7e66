// The admin server's listen socket, where it has options.
import type { SocketOption } from '../native.js';
import type { AdminHost } from './host.js';
import { addressText, bindFailure, type AdminEndpoint } from './http.js';

/**
 * A descriptor that listens. Throws in the real server's words when an option cannot be set before
 * binding; one of a later state is then left out, with a warning.
 */
export function openSocket(
  { sockets, log }: Pick<AdminHost, 'sockets' | 'log'>,
  endpoint: AdminEndpoint,
  options: readonly SocketOption[],
): number {
  const isPipe = 'pipe' in endpoint;
  const address = isPipe ? endpoint.pipe : addressText(endpoint.host, endpoint.port);
  const opened = sockets.openListenSocket(address, isPipe ? endpoint.mode : 0, options);
  for (const { option, why } of opened.failures) {
    const { level = 0, name = 0 } = options[option] ?? {};
    log.warn('connection', `Setting ${level}/${name} option on socket failed: ${why}`);
  }
  if (opened.errno !== 0) throw bindFailure(endpoint, { errno: -opened.errno, message: '' });
  if (opened.fd < 0) throw new Error('ListenSocket: Setting socket options failed');
  return opened.fd;
}
