// --socket-mode: octal digits that mean something only where the sockets of a hot restart are files.
import { ABSTRACT, DEFAULT_SOCKET_MODE, type OptionValues } from './options.js';

/** The permission bits, 0 for abstract sockets; or what is wrong. */
export function parseSocketMode({
  socketPath,
  socketMode = DEFAULT_SOCKET_MODE,
}: Pick<OptionValues, 'socketPath' | 'socketMode'>): number | string {
  if (socketPath.startsWith(ABSTRACT)) return 0;
  if (/^\s*[0-7]+$/.test(socketMode)) return parseInt(socketMode, 8);
  return `invalid socket-mode '${socketMode}'; expected octal digits, such as ${DEFAULT_SOCKET_MODE}`;
}
