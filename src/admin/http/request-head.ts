// What is no request to the real server's parser, though Node's reads it.
import type { IncomingMessage } from 'node:http';

const METHODS: ReadonlySet<string> = new Set(
  (
    'ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK MERGE MKACTIVITY MKCALENDAR ' +
    'MKCOL MOVE NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT REBIND REPORT SEARCH SOURCE ' +
    'SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE'
  ).split(' '),
);
const MAX_HEADERS = 100;
/** What an authority may be made of. */
const AUTHORITY = /^[\w.~!$&'()*+,;=:@[\]%-]*$/;
const TARGET = /^(?:\/|\*$|https?:\/\/)/i;
const NOT_IN_TARGET = /[^\x21-\x7e]/;

export type Head = Pick<
  IncomingMessage,
  'method' | 'url' | 'httpVersion' | 'headers' | 'rawHeaders'
>;

/** The status that refuses it; undefined of a request. */
export function findHeadFault(head: Head): number | undefined {
  const { method = '', url = '', headers } = head;
  if (head.httpVersion !== '1.1') return 426;
  if (head.rawHeaders.length / 2 > MAX_HEADERS) return 431;
  if (!METHODS.has(method) || !TARGET.test(url) || NOT_IN_TARGET.test(url)) return 400;
  if (!AUTHORITY.test(headers.host ?? '')) return 400;
  const encoding = headers['transfer-encoding'] ?? 'chunked';
  return encoding.toLowerCase() === 'chunked' ? undefined : 501;
}

/** Of what Node's parser cannot read: by the code of its error, and the error's reason. */
export function statusOfParseError(code: string | undefined, reason = ''): number {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431;
    case 'HPE_INVALID_VERSION':
      return reason.startsWith('Invalid') ? 426 : 400;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408;
    case 'HPE_INVALID_TRANSFER_ENCODING':
      return /content-length/i.test(reason) ? 400 : 501;
    default:
      return 400;
  }
}

/** Whether the client wants no further answer on its connection. */
export function asksToClose(head: Head): boolean {
  const { connection = '' } = head.headers;
  const tokens = `${connection},${String(head.headers['proxy-connection'] ?? '')}`;
  return tokens.split(',').some((token) => token.trim().toLowerCase() === 'close');
}
