// The addon's part in hot restarts: memory that epochs share, and sockets that are passed on.
/** A listen socket that one process hands to the next. */
export interface PassedSocket {
  readonly listener: string;
  /** Where it is bound: "127.0.0.1:10000", or a pipe's path. */
  readonly address: string;
  /** The configuration leaves the port to the kernel. */
  readonly anyPort: boolean;
  readonly fd: number;
}

/** Memory that all processes of one base id share (native/hot_restart/shared_region.h). */
export interface SharedRegion {
  /** The highest epoch that ever accepted connections. */
  readonly lastEpoch: number;
  readonly generation: number;
  /** When epoch 0 started: milliseconds since 1970. */
  readonly originalStartMs: number;
  /** Whether this process may initialise: one at a time does. */
  beginInitializing(): boolean;
  endInitializing(): void;
  /** Whether another process does. */
  isAnyoneInitializing(): boolean;
  /** Of other processes that are alive, and accept connections or did: in ascending order. */
  otherEpochs(): readonly number[];
  /** This process accepts connections: it counts as this epoch until it ends. */
  serve(epoch: number, generation: number): void;
  /** Long lines of logs do not mix with those of other processes from here on. */
  shareLines(): void;
  /** The last one out removes it. */
  close(): void;
}

export interface OpenedRegion {
  readonly status:
    | 'created'
    | 'replaced'
    | 'joined'
    | 'in-use'
    | 'missing'
    | 'other-layout'
    | 'no-room'
    | 'failed';
  /** For 'failed': the system's words. */
  readonly error: string;
  /** For 'other-layout': its version; 0 when it is not even ours. */
  readonly layoutVersion: number;
  readonly region?: SharedRegion;
}

export interface MessageSocket {
  /** 0 or an errno; EAGAIN when the receiver does not keep up. The descriptors stay the caller's. */
  send(to: string, bytes: Uint8Array, descriptors?: readonly number[]): number;
  close(): void;
}

/** Closed once the process that holds the other end is gone, or by `close`. */
export interface Lifeline {
  close(): void;
}

/** What a process has of hot restarts before it has a data plane. */
export interface HotRestartAddon {
  readonly layoutVersion: number;
  readonly maxMessageBytes: number;
  readonly maxDescriptors: number;
  createRegion(name: string): OpenedRegion;
  joinRegion(name: string): OpenedRegion;
  /** "@…" is an abstract name, anything else a file. A number is an errno. */
  bindSocket(
    name: string,
    mode: number,
    onMessage: (bytes: Buffer, descriptors: readonly number[]) => void,
  ): MessageSocket | number;
  /** Without a name: nobody answers it. */
  openSocket(): MessageSocket | number;
  /** Both ends. */
  openLifeline(): readonly [mine: number, theirs: number];
  /** Takes the descriptor, unless it cannot be watched: then it is the caller's still (undefined). */
  watchLifeline(descriptor: number, onEnd: () => void): Lifeline | undefined;
  /** Whether connections can be accepted from this descriptor, which may be anything. */
  isListening(descriptor: number): boolean;
  closeDescriptors(descriptors: readonly number[]): void;
}
