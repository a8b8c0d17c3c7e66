// What the admin server and its handlers say to each other, whoever speaks HTTP for them.
import type { Page } from '../native.js';

export interface AdminRequest {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface AdminReply {
  readonly status?: number;
  readonly type?: 'text' | 'json' | 'html';
  /** A text, or a long answer that is written piece by piece. */
  readonly body: string | Page;
  /** Called once the answer has been written. */
  readonly then?: () => void;
}

export type AdminHandler = (request: AdminRequest) => AdminReply;

/** Counts for `http.admin.` and `listener.admin.`. */
export interface AdminCounts {
  connectionOpened(): void;
  connectionClosed(): void;
  answered(status: number): void;
}

export const CONTENT_TYPES = {
  text: 'text/plain; charset=UTF-8',
  json: 'application/json',
  html: 'text/html; charset=UTF-8',
} as const;

/** Beside content-type and what the transport adds. */
export const COMMON_HEADERS: readonly (readonly [string, string])[] = [
  ['cache-control', 'no-cache, max-age=0'],
  ['x-content-type-options', 'nosniff'],
  ['server', 'envoy'],
];

export type AdminEndpoint = { readonly host: string; readonly port: number } | { readonly pipe: string };

/** A server of HTTP: uWebSockets.js, or Node's own. */
export interface AdminTransport {
  /** Resolves with the bound address ("127.0.0.1:9901"); rejects when it is taken. */
  listen(endpoint: AdminEndpoint): Promise<string>;
  close(): void;
}

export interface TransportOptions {
  handle(request: AdminRequest, origin: { readonly host: string; readonly origin: string }): AdminReply;
  readonly counts: AdminCounts;
}
