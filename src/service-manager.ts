// What a process tells whoever manages it, in the words of sd_notify(3): to systemd, on the socket that
// NOTIFY_SOCKET names, or to fairlead-hot-restarter, on a descriptor that it has handed over.
import { fstatSync, writeSync } from 'node:fs';
import { NOTIFY_FD, NOTIFY_SOCKET } from './base/environment.js';
import { loadAddon } from './native.js';

/** Assignments such as READY=1. That nobody listens any more is no trouble of this process. */
export type Tell = (...assignments: readonly string[]) => void;

/** Undefined: nobody wants to know. */
export function findServiceManager(env: NodeJS.ProcessEnv): Tell | undefined {
  const fd = Number(env[NOTIFY_FD]);
  if (env[NOTIFY_FD] !== undefined && isSocket(fd)) return descriptorTell(fd);
  const socketName = env[NOTIFY_SOCKET] ?? '';
  return socketName === '' ? undefined : socketTell(socketName);
}

export function socketTell(socketName: string): Tell {
  return attempt((text) => {
    const socket = loadAddon().hotRestart.openSocket();
    if (typeof socket === 'number') return;
    socket.send(socketName, Buffer.from(text));
    socket.close();
  });
}

function descriptorTell(fd: number): Tell {
  return attempt((text) => writeSync(fd, `${text}\n`));
}

function attempt(send: (text: string) => void): Tell {
  return (...assignments) => {
    try {
      send(assignments.join('\n'));
    } catch {
      // It has ended, or does not keep up.
    }
  };
}

/** A script in between may have closed the descriptor, and another file may have its number. */
function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}
