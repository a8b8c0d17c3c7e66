// What the admin server and its handlers say to each other, whoever speaks HTTP for them.
import { getSystemErrorMap } from 'node:util';
import type { Page } from '../native.js';
import type { Parameters } from './parameters.js';

/** The request headers that anything here looks at. */
export const REQUEST_HEADERS = [
  'host',
  'accept',
  'origin',
  'sec-fetch-site',
  'connection',
  'content-type',
  'user-agent',
  'x-forwarded-for',
  'x-request-id',
] as const;
export type RequestHeader = (typeof REQUEST_HEADERS)[number];

export interface AdminRequest {
  /** In capitals. */
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** Empty where there was none. */
  readonly headers: Readonly<Record<RequestHeader, string>>;
  readonly body: string;
  /** Of head and body, as they came. */
  readonly wireBytes: number;
  /** When its head had come: milliseconds since 1970. */
  readonly beganMs: number;
}

/** What a handler gets to see. */
export interface AdminQuery {
  readonly body: string;
  /** Of the query, then of a form in the body. */
  readonly parameters: Parameters;
}

/** An answer that goes on: its pieces come when there are some. */
export interface Stream {
  /** Calls `write` with each piece, and `end` after the last; the function that comes back ends it. */
  listen(write: (piece: Buffer) => void, end: () => void): () => void;
  /** Each piece is a chunk; otherwise only the end of the connection ends it. */
  readonly isChunked?: boolean;
}

export interface AdminReply {
  /** 200 if absent. */
  readonly status?: number;
  /** Text if absent. */
  readonly type?: keyof typeof CONTENT_TYPES;
  /** Before those of every answer, and in the place of those of the same name. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** A text, a long answer that is written piece by piece, or one that goes on until somebody leaves. */
  readonly body: string | Page | Stream;
  /** It counts only once it has been written: it shows the counters as they were before it. */
  readonly countsAtEnd?: boolean;
  /** The request is none that an endpoint could answer: HTTP's own headers, then the end. */
  readonly isBare?: boolean;
  /** Called by the transport, once the answer has been written. */
  readonly then?: () => void;
}

export type AdminHandler = (query: AdminQuery) => AdminReply;

export const CONTENT_TYPES = {
  text: 'text/plain; charset=UTF-8',
  plain: 'text/plain',
  json: 'application/json',
  html: 'text/html; charset=UTF-8',
  events: 'text/event-stream',
} as const;

/** Of every answer, in this order; `date` and framing are the transport's. */
export function replyHeaders(reply: AdminReply): readonly (readonly [string, string])[] {
  const server = ['server', 'envoy'] as const;
  const type = ['content-type', CONTENT_TYPES[reply.type ?? 'text']] as const;
  if (reply.isBare) return reply.body === '' ? [server] : [type, server];
  return [
    ...(reply.headers ?? []),
    type,
    ['cache-control', reply.type === 'events' ? 'no-cache' : 'no-cache, max-age=0'],
    ['x-content-type-options', 'nosniff'],
    server,
  ];
}

/** Whether the answer is its connection's last. */
export const endsConnection = ({ headers }: AdminRequest, reply: AdminReply): boolean =>
  reply.isBare === true || headers.connection.toLowerCase() === 'close';

export const badRequest = (body: string): AdminReply => ({ status: 400, body });

/** Text that is JSON: one blank per level, as the real server indents. */
export function jsonReply(value: unknown): AdminReply {
  const text = JSON.stringify(value, null, 1);
  return { type: 'json', body: `${text.replace(/[<>]/g, escapeAngle)}\n` };
}

const escapeAngle = (bracket: string): string => (bracket === '<' ? '\\u003c' : '\\u003e');

/** Of an answer. */
export interface SentBytes {
  readonly ofBody: number;
  /** With head and framing. */
  readonly onWire: number;
  /** Its reader has gone before the end. */
  readonly isCut: boolean;
}

/** What a transport serves. Nothing here throws. */
export interface AdminService {
  connectionOpened(): void;
  connectionClosed(): void;
  /** Called once the whole request has come. */
  answer(request: AdminRequest): AdminReply;
  /** Its client has gone before the request had come whole: nothing is done. */
  abandoned(wireBytes: number): void;
  /** Nothing is left of the answer but what ends it, or its reader has gone. */
  finished(request: AdminRequest, reply: AdminReply, sent: SentBytes): void;
}

export type AdminEndpoint =
  | { readonly host: string; readonly port: number }
  /** A socket in the file system; mode 0: as the process's mask says. */
  | { readonly pipe: string; readonly mode: number };

/** A server of HTTP: uWebSockets.js, or Node's own. */
export interface AdminTransport {
  /**
   * Resolves with the bound address ("127.0.0.1:9901"); rejects when it is taken. A descriptor of a
   * socket that listens there already is for node:http only.
   */
  listen(endpoint: AdminEndpoint, descriptor?: number): Promise<string>;
  /** Ends all connections. */
  close(): void;
}

/** Request bodies are small here; what is longer is read, so that its sender reads why it is refused. */
export const MAX_BODY_BYTES = 1 << 20;
export const TOO_LONG_BODY = `request bodies of more than ${MAX_BODY_BYTES} bytes are refused\n`;

export function addressText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** "cannot bind '127.0.0.1:80': Permission denied" */
export function bindFailure(
  endpoint: AdminEndpoint,
  error: Pick<NodeJS.ErrnoException, 'errno' | 'message'>,
): Error {
  const where = 'pipe' in endpoint ? endpoint.pipe : addressText(endpoint.host, endpoint.port);
  const [, why = error.message] = getSystemErrorMap().get(error.errno ?? 0) ?? [];
  return new Error(`cannot bind '${where}': ${why.charAt(0).toUpperCase()}${why.slice(1)}`);
}
