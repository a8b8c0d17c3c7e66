// Signals, from the first moment on. Node would open its debugger on SIGUSR1, so that this module is
// the first that the command loads: until `onReopen` is called, the signal does nothing.

let reopen = (): void => undefined;
process.on('SIGUSR1', () => reopen());

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
