// Tells the process that supervises this one how it is (sd_notify): systemd with Type=notify, or
// fairlead-hot-restarter.
import type { HotRestartAddon } from '../native.js';

/** Lines such as "READY=1". Does nothing where nobody wants to know. */
export function notifySupervisor(
  addon: HotRestartAddon,
  lines: readonly string[],
  socket = process.env.NOTIFY_SOCKET ?? '',
): void {
  if (socket === '') return;
  const sender = addon.openSocket();
  if (typeof sender === 'number') return;
  // Whoever does not listen does not want to know.
  sender.send(socket, Buffer.from(lines.join('\n')));
  sender.close();
}
