// Who speaks HTTP for the admin server. Whoever does is told nothing but this, and held to the same tests.

/** A connection that was accepted. */
export interface Accepted {
  /** A socket that never blocks; from here on the transport's. */
  readonly fd: number;
  readonly id: number;
  /** "127.0.0.1:9901"; empty of a pipe. */
  readonly remoteAddress: string;
  readonly localAddress: string;
}

export interface AdminTransport {
  /** By which package, as the log tells. */
  readonly name: string;
  serve(connection: Accepted): void;
  /** Ends connections: those with an answer under way have a moment for the rest of it. */
  close(): void;
}

/** How long what is under way may take when a transport closes. */
export const GRACE_MS = 1000;
