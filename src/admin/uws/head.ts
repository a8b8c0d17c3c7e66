// The head of a request, out of what uWebSockets.js lends for a moment.
import {
  REQUEST_HEADERS,
  type AdminRequest,
  type ConnectionInfo,
  type RequestHeader,
} from '../http/http.js';
import { asksToClose, type Head } from '../http/request-head.js';
import type { UwsRequest } from './uws.js';

export interface UwsHead extends Head {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly picked: Readonly<Record<RequestHeader, string>>;
  readonly namesHost: boolean;
  /** uWebSockets.js knows by itself that this is the connection's last request. */
  readonly saysClose: boolean;
}

/** Of these the first counts, as Node has it; others are lists. */
const SINGLE: ReadonlySet<string> = new Set(['host', 'content-type', 'user-agent']);

export function readHead(request: UwsRequest): UwsHead {
  const rawHeaders: string[] = [];
  const headers: Record<string, string> = {};
  request.forEach((name, value) => {
    rawHeaders.push(name, value);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (!SINGLE.has(name)) headers[name] = `${before}, ${value}`;
  });
  const query = request.getQuery();
  const path = request.getUrl();
  const picked = REQUEST_HEADERS.map((name) => [name, headers[name] ?? '']);
  return {
    method: request.getCaseSensitiveMethod(),
    url: query === undefined ? path : `${path}?${query}`,
    httpVersion: '1.1',
    headers,
    rawHeaders,
    picked: Object.fromEntries(picked) as Record<RequestHeader, string>,
    namesHost: headers.host !== undefined,
    // As it decides.
    saysClose: headers.connection?.length === 'close'.length,
  };
}

export function requestOf(
  head: UwsHead,
  body: string,
  beganMs: number,
  connection: ConnectionInfo,
): AdminRequest {
  const { method, url, rawHeaders, picked, namesHost } = head;
  return {
    ...{ method, target: url, rawHeaders, headers: picked, namesHost },
    ...{ body, beganMs, connection },
    asksToClose: asksToClose(head),
  };
}
