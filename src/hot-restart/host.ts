// What the two links of hot restart see of the server that they belong to.
import type { Log } from '../logging/logger.js';
import type { NativeProxy } from '../native.js';

export interface RestartHost {
  readonly native: NativeProxy;
  readonly log: Log;
  /** Seconds. */
  readonly options: { readonly parentShutdownTimeS: number };
  /** It has been asked to end. */
  readonly isEnding: boolean;
  /** Open connections, those of processes before this one included. */
  connectionCount(): number;
  /** A successor needs the admin address, and reports statistics from here on. */
  suspendAdmin(): void;
  /** There is no successor any more. */
  resumeAdmin(): Promise<void>;
  /** A successor accepts connections: those that are open are to end over the drain time. */
  drainForSuccessor(): void;
  endDrain(): void;
  /** Ends the server. */
  quit(): void;
}
