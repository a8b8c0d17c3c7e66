// What the control plane does with a gRPC service, whichever way it is reached.
import type { GrpcStatus } from './status.js';

export interface GrpcStreamEvents {
  onMessage(message: Buffer): void;
  /** Once; nothing comes after it. Not called after cancel(). */
  onEnd(status: GrpcStatus): void;
}

export interface GrpcStream {
  /** The server has been heard, and the stream is on a connection to it. */
  readonly isConnected: boolean;
  /** `onSent`: it has left, or never will. */
  write(message: Buffer, onSent: () => void): void;
  /** No more is written. */
  end(): void;
  cancel(): void;
}

export interface GrpcClient {
  /** Whether there is anybody to be asked, well or not. */
  readonly isThere: boolean;
  /** `method`: "/package.Service/Method". */
  open(method: string, events: GrpcStreamEvents): GrpcStream;
  /** Streams are cancelled; connections that nobody else uses are closed. */
  close(): void;
}
