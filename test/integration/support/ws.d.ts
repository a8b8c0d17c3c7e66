// What the tests use of the ws package, which has no types of its own.
declare module 'ws' {
  import type { EventEmitter } from 'node:events';
  import type { Server } from 'node:http';
  import type { Duplex } from 'node:stream';

  interface SocketOptions {
    readonly perMessageDeflate?: boolean;
    readonly maxPayload?: number;
  }

  export class WebSocket extends EventEmitter {
    /** Null: nothing is connected before setSocket(). */
    constructor(address: string | null, protocols: string[] | undefined, options: SocketOptions);
    /** The handshake is over: what `socket` carries are frames. */
    setSocket(socket: Duplex, head: Buffer, options: SocketOptions): void;
    send(message: Buffer, options?: { readonly binary?: boolean }): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
    on(event: 'message', listener: (message: Buffer, isBinary: boolean) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'close', listener: (code: number) => void): this;
  }

  export class WebSocketServer extends EventEmitter {
    constructor(options: SocketOptions & { readonly server: Server });
    readonly clients: ReadonlySet<WebSocket>;
    on(event: 'connection', listener: (socket: WebSocket) => void): this;
  }
}
