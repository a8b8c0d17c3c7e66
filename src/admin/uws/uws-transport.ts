// The admin server's HTTP by uWebSockets.js.
import { startTimeout } from '../../base/timers.js';
import type { AdminService } from '../http/http.js';
import { GRACE_MS, type AdminTransport } from '../http/transport.js';
import { Slot, type Sockets } from './slot.js';
import { loadUws } from './uws.js';

/** Undefined where no binary fits this Node and this C library. */
export function uwsTransport(service: AdminService, sockets: Sockets): AdminTransport | undefined {
  const uws = loadUws();
  if (!uws) return undefined;
  const busy = new Set<Slot>();
  // There is no end to an App but the process's: each is used again and again.
  const free: Slot[] = [];
  const release = (slot: Slot): void => {
    busy.delete(slot);
    free.push(slot);
  };
  return {
    name: 'uWebSockets.js',
    serve: (accepted) => {
      const slot = free.pop() ?? new Slot(uws, service, sockets, release);
      busy.add(slot);
      slot.adopt(accepted);
    },
    close: () => {
      for (const slot of [...busy]) slot.leave();
      startTimeout(() => {
        for (const slot of [...busy]) slot.close();
      }, GRACE_MS).unref();
    },
  };
}
