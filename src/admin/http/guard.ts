// Keeps pages of other sites from using a browser that can reach the admin server.
import { hostname } from 'node:os';
import { isIP } from 'node:net';
import type { AdminEndpoint, AdminReply, AdminRequest } from './http.js';

/** What --admin-allowed-host says when every name is as good as another. */
const ANY_HOST = '*';

/** What a browser says of who sent a request: only the first two are nobody's page but ours. */
const OWN_SITES = ['same-origin', 'none', ''];

/**
 * Why a page of another site must have sent a request that changes something, or undefined. Requests
 * that change nothing may come from anywhere: a browser does not show their answers to other sites.
 */
export function findForgery(request: AdminRequest): string | undefined {
  const { host, origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (origin !== '' && hostOf(origin) !== host.toLowerCase()) {
    return `requests from ${origin} may not change anything here\n`;
  }
  if (OWN_SITES.includes(site)) return undefined;
  return `requests from other sites (sec-fetch-site: ${site}) may not change anything here\n`;
}

/**
 * Why the name that a request was sent to is none of ours, or undefined. A name that somebody makes point
 * at this machine would count as the page's own site: so a browser's requests are looked at wherever
 * they come in, and all of them on loopback addresses, where nobody needs another name.
 */
export function findForeignHost(
  request: AdminRequest,
  listening: AdminEndpoint,
  allowedHosts: readonly string[],
): string | undefined {
  const { host } = request.headers;
  if (allowedHosts.includes(ANY_HOST)) return undefined;
  if (!isLoopback(listening) && !isBrowser(request)) return undefined;
  // A dot at the end only says that the name is whole.
  const name = host.replace(/\.?(?::\d*)?$/, '').toLowerCase();
  if (isOwnName(name) || allowedHosts.some((allowed) => allowed.toLowerCase() === name)) {
    return undefined;
  }
  return (
    `requests to ${host} are refused: the name is neither an address nor local ` +
    `(--admin-allowed-host ${name} allows it)\n`
  );
}

/**
 * What scripts cannot leave out where it counts: of a page that is not served over TLS a browser says
 * nothing but its own name with what is merely read.
 */
function isBrowser({ headers, rawHeaders }: AdminRequest): boolean {
  if (headers.origin !== '' || headers['user-agent'].startsWith('Mozilla/')) return true;
  return rawHeaders.some((text, index) => index % 2 === 0 && /^sec-fetch-/i.test(text));
}

/** For browsers, which ask for HTML by name: no page of another site shows one of ours in a frame. */
const UNFRAMED = [
  ['x-frame-options', 'DENY'],
  ['content-security-policy', "frame-ancestors 'none'"],
] as const;

/** Else a page of another site could lay a button of ours under what its visitor clicks. */
export function keepFromFrames(reply: AdminReply, { headers }: AdminRequest): AdminReply {
  if (reply.type !== 'html' || !headers.accept.includes('text/html')) return reply;
  return { ...reply, headers: [...(reply.headers ?? []), ...UNFRAMED] };
}

/** Whether only this machine can reach it: loopback addresses and sockets in the file system. */
export function isLocal(endpoint: AdminEndpoint): boolean {
  return 'pipe' in endpoint || isLoopback(endpoint);
}

function isLoopback(endpoint: AdminEndpoint): boolean {
  return 'host' in endpoint && (endpoint.host.startsWith('127.') || endpoint.host === '::1');
}

/** "localhost:9901" of "http://localhost:9901"; undefined of what is no address, such as "null". */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function isOwnName(name: string): boolean {
  // HTTP/1.0 needs no host, and no browser speaks it.
  if (name === '' || isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true;
  // A name of one word, such as localhost, is nobody's to sell: it comes from this network.
  return !name.includes('.') || name.endsWith('.localhost') || name === hostname().toLowerCase();
}
