// Keeps pages of other sites from using a browser that can reach the admin server.
import { hostname } from 'node:os';
import { parseIp } from '../plan/ip.js';
import type { AdminEndpoint, AdminRequest } from './http.js';

/** Why a request is refused, or undefined. */
export function findForeign(request: AdminRequest, listening: AdminEndpoint): string | undefined {
  const { host, origin } = request.headers;
  if (origin !== '' && hostOf(origin) !== host) return `requests from ${origin} are refused\n`;
  // A name that somebody makes point at this machine would count as the page's own site.
  if (isLoopback(listening) && !isOwnName(host)) return `requests to ${host} are refused\n`;
  return undefined;
}

/** "localhost:9901" of "http://localhost:9901"; undefined of what is no address, such as "null". */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function isLoopback(endpoint: AdminEndpoint): boolean {
  return 'host' in endpoint && (endpoint.host.startsWith('127.') || endpoint.host === '::1');
}

function isOwnName(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  if (parseIp(name.replace(/^\[|\]$/g, ''))) return true;
  return name === 'localhost' || name.endsWith('.localhost') || name === hostname().toLowerCase();
}
