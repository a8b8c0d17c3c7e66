// Signals, from the first moment on: this is the first module that the command loads. Node opens its
// debugger on SIGUSR1; here the signal opens logs anew, or does nothing while there are none.
import inspector from 'node:inspector';

let reopen = (): void => undefined;
process.on('SIGUSR1', () => reopen());
closeDebugger();
// A signal that was being worked on meanwhile.
setImmediate(closeDebugger);

/** A SIGUSR1 that came while Node itself was starting has opened a port that runs any code. */
function closeDebugger(): void {
  if (inspector.url() !== undefined && !isDebuggerWanted()) inspector.close();
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
