// Environment variables by which whoever starts this process is told of it: see service-manager.

/** The number of the descriptor on which fairlead-hot-restarter listens. */
export const NOTIFY_FD = 'FAIRLEAD_NOTIFY_FD';
/** Systemd's socket: a path, or "@name". */
export const NOTIFY_SOCKET = 'NOTIFY_SOCKET';
