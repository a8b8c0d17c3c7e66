// What the two links of hot restart see of the server that they belong to.
import type { Log } from '../logging/logger.js';
import type { NativeProxy } from '../native.js';

export interface AdminSocket {
  readonly fd: number;
  /** "127.0.0.1:9901" */
  readonly address: string;
}

export interface RestartHost {
  readonly native: NativeProxy;
  readonly log: Log;
  /** Seconds. */
  readonly options: { readonly parentShutdownTimeS: number };
  /** It has been asked to end. */
  readonly isEnding: boolean;
  /** Open connections, those of processes before this one included. */
  connectionCount(): number;
  /**
   * A successor needs the admin address, and reports statistics from here on. Gives the socket that
   * listens there, on which connections wait for it.
   */
  suspendAdmin(): AdminSocket | undefined;
  /** The predecessor's; whoever gets it closes it. */
  inheritAdmin(socket: AdminSocket): void;
  /** There is no successor any more. */
  resumeAdmin(): Promise<void>;
  /** A successor accepts connections: those that are open are to end over the drain time. */
  drainForSuccessor(): void;
  endDrain(): void;
  /** Ends the server. */
  quit(): void;
}
