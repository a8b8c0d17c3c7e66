// Signals, from the first moment on: this is the first module that the command loads. Node opens its
// debugger on SIGUSR1; here the signal opens logs anew, or does nothing while there are none.
import { readdirSync, readlinkSync } from 'node:fs';
import type Inspector from 'node:inspector';
import { createRequire } from 'node:module';
import { NOTIFY_FD } from '../base/environment.js';
import { startImmediate } from '../base/timers.js';

/** After stdin, stdout and stderr. */
const FIRST_OWN_FD = 3;

let reopen = (): void => undefined;
process.on('SIGUSR1', () => reopen());
closeDebugger();

/** Finds one whose signal was being worked on until now. To be called before there are sockets. */
export async function closeLateDebugger(): Promise<void> {
  // Node opens it from its event loop.
  await new Promise<void>((resolve) => startImmediate(resolve));
  closeDebugger();
}

/** A SIGUSR1 that came while Node itself was starting has opened a port that runs any code. */
function closeDebugger(): void {
  if (isDebuggerWanted() || !hasSocket()) return;
  // Loaded only for this: it takes long.
  const inspector = createRequire(import.meta.url)('node:inspector') as typeof Inspector;
  if (inspector.url() !== undefined) inspector.close();
}

/** Whether there is a socket besides those that were handed over. */
function hasSocket(): boolean {
  const folder = '/proc/self/fd';
  const isSocket = (fd: string): boolean => {
    if (Number(fd) < FIRST_OWN_FD || fd === process.env[NOTIFY_FD]) return false;
    try {
      return readlinkSync(`${folder}/${fd}`).startsWith('socket:');
    } catch {
      // It was that of the folder.
      return false;
    }
  };
  try {
    return readdirSync(folder).some(isSocket);
  } catch {
    return true;
  }
}

function isDebuggerWanted(): boolean {
  return [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((text) =>
    text.includes('--inspect'),
  );
}

/** SIGUSR1: logs are to be opened anew. */
export function onReopen(action: () => void): void {
  reopen = action;
}

/** SIGHUP, which would end the process. */
export function onHangUp(action: () => void): void {
  process.on('SIGHUP', action);
}

/** Resolves with the first signal that asks for an end; later ones change nothing. */
export function untilEndSignal(): Promise<'SIGTERM' | 'SIGINT'> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
  });
}
