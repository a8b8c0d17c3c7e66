// What the admin server and its handlers say to each other, whoever speaks HTTP for them.
import type { Page } from '../../native-stats.js';
import { indentedJson } from '../../base/json-text.js';
import type { Parameters } from './parameters.js';

/** The request headers that anything here looks at. */
export const REQUEST_HEADERS = [
  'host',
  'accept',
  'origin',
  'sec-fetch-site',
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
  /** Names and values by turns, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** Empty where there was none. */
  readonly headers: Readonly<Record<RequestHeader, string>>;
  readonly body: string;
  /** When its head had come: milliseconds since 1970. */
  readonly beganMs: number;
  /** Perhaps none: an empty name is one too. */
  readonly namesHost: boolean;
  /** Its client wants no further answer on this connection. */
  readonly asksToClose: boolean;
  readonly connection: ConnectionInfo;
}

/** A connection, as an access log shows it. */
export interface ConnectionInfo {
  readonly id: number;
  /** "127.0.0.1:9901"; empty of a pipe. */
  readonly remoteAddress: string;
  readonly localAddress: string;
  /** Of this request, as far as it has come. */
  readonly receivedBytes: number;
}

/** What a handler gets to see. */
export interface AdminQuery {
  readonly body: string;
  /** What the client would like to get, of all such headers; empty where there was none. */
  readonly accept: string;
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
  /** Why the request is none that an endpoint could answer: then it gets HTTP's own headers only. */
  readonly fault?: Fault;
  /** Called by the transport, once the answer has been written. */
  readonly then?: () => void;
}

/** 'protocol': it is no HTTP. Only what is 'elsewhere', as a proxy is asked, may be followed by others. */
export type Fault = 'protocol' | 'host' | 'path' | 'elsewhere';

export type AdminHandler = (query: AdminQuery) => AdminReply;

export const CONTENT_TYPES = {
  text: 'text/plain; charset=UTF-8',
  plain: 'text/plain',
  json: 'application/json',
  html: 'text/html; charset=UTF-8',
  events: 'text/event-stream',
  metricFamilies:
    'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
} as const;

/** Of the statuses that the admin server answers with. */
export const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  426: 'Upgrade Required',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
};

export type Header = readonly [name: string, value: string];

/** How an answer's end is found: by its length, by chunks, or by that of its connection. */
export type Framing = number | 'chunked' | 'connection';

/** A whole head, in the real server's order. */
export function replyHeaders(reply: AdminReply, framing: Framing, closes: boolean): Header[] {
  const type: Header = ['content-type', CONTENT_TYPES[reply.type ?? 'text']];
  const date: Header = ['date', new Date().toUTCString()];
  const server: Header = ['server', 'envoy'];
  const close: Header[] = closes ? [['connection', 'close']] : [];
  const frame: Header[] =
    typeof framing === 'number'
      ? [['content-length', String(framing)]]
      : framing === 'chunked'
        ? [['transfer-encoding', 'chunked']]
        : [];
  if (reply.fault) {
    return framing === 0
      ? [date, server, ...close, ...frame]
      : [...frame, type, date, server, ...close];
  }
  return [
    ...(reply.headers ?? []),
    type,
    ['cache-control', reply.type === 'events' ? 'no-cache' : 'no-cache, max-age=0'],
    ['x-content-type-options', 'nosniff'],
    date,
    server,
    ...close,
    ...frame,
  ];
}

/** Whether the answer is its connection's last. */
export const endsConnection = (request: AdminRequest, { fault }: AdminReply): boolean =>
  request.asksToClose || (fault !== undefined && fault !== 'elsewhere');

/** Where /ui is told what it shows, where there are WebSockets. */
export const LIVE_PATH = '/ui/live';
/** It answers so where a WebSocket would be opened. */
export const ONLY_SOCKETS: AdminReply = { status: 426, body: 'WebSockets only: see /ui\n' };

/** Where a bug was noticed that no endpoint's answer tells of. */
export const ADMIN_REQUEST = 'an admin request';

export const badRequest = (body: string): AdminReply => ({ status: 400, body });

/** Text that is JSON: one blank per level, as the real server indents. */
export const jsonReply = (value: unknown): AdminReply => ({
  type: 'json',
  body: `${indentedJson(value, 0)}\n`,
});

/** Of an answer. */
export interface SentBytes {
  readonly headers: readonly Header[];
  readonly ofBody: number;
  /** With head and framing. */
  readonly onWire: number;
  /** Its reader has gone before the end. */
  readonly isCut: boolean;
}

/** A connection that has ended. */
export interface EndedConnection {
  readonly lengthMs: number;
  /** By this side. */
  readonly isLocal: boolean;
  /** What came last, as `received` was told. */
  readonly lastBytes: number;
}

/** What the transport serves. Nothing here throws. */
export interface AdminService {
  /** False: it is to be closed, and nothing more is told of it. */
  connectionOpened(): boolean;
  connectionClosed(connection: EndedConnection): void;
  /** On a connection, after so many the last time. */
  received(bytes: number, bytesBefore: number): void;
  /** Called once the whole request has come. */
  answer(request: AdminRequest): AdminReply;
  /** Whether the WebSocket of `LIVE_PATH` may be opened; if not, this is a request as any other. */
  admitSocket(request: AdminRequest): boolean;
  /** What a page is now, for a WebSocket that was admitted: it is no request of its own. */
  look(request: AdminRequest): AdminReply;
  /** For what is no request, or too long a one: the answer with this status. */
  refuse(request: AdminRequest, status: number): AdminReply;
  /** Its client has gone before the request had come whole: nothing is done. */
  abandoned(request: AdminRequest): void;
  /** Nothing is left of the answer but what ends it, or its reader has gone. */
  finished(request: AdminRequest, reply: AdminReply, sent: SentBytes): void;
}

export type AdminEndpoint =
  | { readonly host: string; readonly port: number }
  /** A socket in the file system; mode 0: as the process's mask says. */
  | { readonly pipe: string; readonly mode: number };

/** Request bodies are small here; what is longer is read, so that its sender reads why it is refused. */
export const MAX_BODY_BYTES = 1 << 20;
export const TOO_LONG_BODY = `request bodies of more than ${MAX_BODY_BYTES} bytes are refused\n`;

export function addressText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
