// The admin server's listen socket.
import type { SocketOption } from '../../native.js';
import type { AdminHost } from '../host.js';
import { addressText, type AdminEndpoint } from './http.js';

export interface ListenSocket {
  /** A descriptor that listens. */
  readonly fd: number;
  /** "127.0.0.1:9901", with the kernel's port where the endpoint left it open; or a pipe's path. */
  readonly address: string;
}

/**
 * Throws in the real server's words when the address cannot be had, or an option cannot be set before
 * binding; one of a later state is then left out, with a warning.
 */
export function openSocket(
  { sockets, log }: Pick<AdminHost, 'sockets' | 'log'>,
  endpoint: AdminEndpoint,
  options: readonly SocketOption[],
): ListenSocket {
  const isPipe = 'pipe' in endpoint;
  const wanted = isPipe ? endpoint.pipe : addressText(endpoint.host, endpoint.port);
  const { fd, address, error, failures } = sockets.openListenSocket(
    wanted,
    isPipe ? endpoint.mode : 0,
    options,
  );
  for (const { option, why } of failures) {
    const { level = 0, name = 0 } = options[option] ?? {};
    log.warn('connection', `Setting ${level}/${name} option on socket failed: ${why}`);
  }
  if (error !== '') throw new Error(error);
  if (fd < 0) throw new Error('ListenSocket: Setting socket options failed');
  return { fd, address };
}
