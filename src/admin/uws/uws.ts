// uWebSockets.js: the parts of it that are used here, and its binary, an optional dependency. Which of
// them loads depends on Node's version and on the C library.
import { createRequire } from 'node:module';

export interface UwsResponse {
  cork(work: () => void): void;
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  /** False: the reader is slow, and `onWritable` is called once it has caught up. */
  write(chunk: Uint8Array | string): boolean;
  end(body?: string, closesConnection?: boolean): void;
  /** Without a length it sends none, and leaves the connection open. */
  endWithoutBody(lengthBytes?: number, closesConnection?: boolean): void;
  close(): void;
  pause(): void;
  resume(): void;
  onAborted(work: () => void): void;
  onData(work: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  onWritable(work: () => boolean): void;
  upgrade(user: object, key: string, protocol: string, extensions: string, context: unknown): void;
}

/** Good only until its handler returns. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  /** Of a name in small letters; empty where there is none. */
  getHeader(name: string): string;
  forEach(work: (name: string, value: string) => void): void;
}

export interface UwsSocket {
  send(message: Uint8Array): number;
  getBufferedAmount(): number;
  end(code?: number, reason?: string): void;
  close(): void;
}

export interface UwsSocketBehavior {
  readonly maxPayloadLength: number;
  readonly maxBackpressure: number;
  readonly closeOnBackpressureLimit: boolean;
  readonly idleTimeout: number;
  readonly upgrade: (response: UwsResponse, request: UwsRequest, context: unknown) => void;
  readonly open: (socket: UwsSocket) => void;
  readonly message: (socket: UwsSocket, message: ArrayBuffer) => void;
  readonly drain: (socket: UwsSocket) => void;
  readonly close: (socket: UwsSocket) => void;
}

export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  ws(pattern: string, behavior: UwsSocketBehavior): UwsApp;
  /** Told of each connection: 1 when it opens, -1 when it has closed. */
  filter(handler: (response: UwsResponse, change: number) => void): UwsApp;
  adoptSocket(fd: number): UwsApp;
  /** Ends all its connections. */
  close(): UwsApp;
}

export interface Uws {
  App(): UwsApp;
  _cfg?(option: string): void;
}

/** By which name it is installed for each version of Node; package.json says what is behind it. */
const PACKAGES: Readonly<Record<string, string>> = {
  20: 'uWebSockets.js',
  22: 'uWebSockets.js-22',
  24: 'uWebSockets.js-24',
};

/** Request heads are limited by an environment variable that it reads when it is loaded. */
const MAX_HEAD_VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE';
/** Of a request, as the real server limits it. */
const MAX_HEAD_BYTES = 60 * 1024;
/** Switches a response header of its own off. */
const NO_OWN_HEADER = '999999990007';

/** Undefined where no binary fits. */
export function loadUws(): Uws | undefined {
  const [major = ''] = process.versions.node.split('.');
  const name = PACKAGES[major];
  if (name === undefined) return undefined;
  const before = process.env[MAX_HEAD_VARIABLE];
  process.env[MAX_HEAD_VARIABLE] = String(MAX_HEAD_BYTES);
  try {
    const uws = createRequire(import.meta.url)(name) as Uws;
    uws._cfg?.(NO_OWN_HEADER);
    return uws;
  } catch {
    // It is not installed, or for another C library.
    return undefined;
  } finally {
    if (before === undefined) delete process.env[MAX_HEAD_VARIABLE];
    else process.env[MAX_HEAD_VARIABLE] = before;
  }
}
