// The admin server: which endpoint answers, and what is refused before any does.
import type { NativeProxy, StatHandle } from '../native.js';
import type { Server } from '../server/server.js';
import { endpointList, type Endpoint } from './endpoints.js';
import { clusterEndpoints } from './handlers/clusters.js';
import { healthEndpoints } from './handlers/health.js';
import { homeEndpoint } from './handlers/home.js';
import { listenerEndpoints } from './handlers/listeners.js';
import { processEndpoints } from './handlers/process.js';
import { statsEndpoints } from './handlers/stats.js';
import type { AdminCounts, AdminEndpoint, AdminReply, AdminRequest, AdminTransport } from './http.js';
import { nodeHttpTransport } from './node-http.js';
import { uwebsocketsTransport } from './uwebsockets.js';

export class AdminServer {
  /** Where it listens, once it does. */
  address = '';
  readonly #server: Server;
  readonly #endpoints: readonly Endpoint[];
  readonly #byPath: ReadonlyMap<string, Endpoint>;
  #transport: AdminTransport | undefined;

  constructor(server: Server) {
    this.#server = server;
    const help: Endpoint = {
      path: '/help',
      help: 'print out list of admin commands',
      mutates: false,
      parameters: [],
      handle: () => ({ body: endpointList(this.#endpoints) }),
    };
    this.#endpoints = [
      homeEndpoint(() => this.#endpoints),
      help,
      ...clusterEndpoints(server),
      ...healthEndpoints(server),
      ...listenerEndpoints(server),
      ...processEndpoints(server),
      ...statsEndpoints(server),
    ];
    this.#byPath = new Map(this.#endpoints.map((endpoint) => [endpoint.path, endpoint]));
  }

  /** Rejects when the address is taken. */
  async listen(endpoint: AdminEndpoint): Promise<void> {
    const options = {
      handle: (request: AdminRequest, from: { host: string; origin: string }) => this.#handle(request, from),
      counts: adminCounts(this.#server.native),
    };
    const uws = 'pipe' in endpoint ? undefined : uwebsocketsTransport(options);
    this.#transport = uws ?? nodeHttpTransport(options);
    this.#server.log.debug('admin', uws ? 'admin on uWebSockets.js' : 'admin on node:http');
    this.address = await this.#transport.listen(endpoint);
  }

  close(): void {
    this.#transport?.close();
    this.#transport = undefined;
  }

  #handle(request: AdminRequest, from: { host: string; origin: string }): AdminReply {
    this.#server.log.debug('admin', `request: ${request.method} ${request.path}`);
    if (isForeign(from)) return { status: 403, body: 'requests from other sites are refused\n' };
    const endpoint = this.#byPath.get(request.path);
    if (!endpoint) return { status: 404, body: `invalid path. ${endpointList(this.#endpoints)}` };
    if (endpoint.mutates && request.method !== 'POST') {
      return { status: 400, body: `Method ${request.method} not allowed, POST required.` };
    }
    return endpoint.handle(request);
  }
}

/** A page of another site makes the browser ask: its origin is not this host. */
function isForeign(from: { host: string; origin: string }): boolean {
  if (from.origin === '' || from.origin === 'null') return from.origin === 'null';
  try {
    return new URL(from.origin).host !== from.host;
  } catch {
    return true;
  }
}

function adminCounts(native: NativeProxy): AdminCounts {
  const handles = new Map<string, StatHandle>();
  const handle = (name: string): StatHandle => {
    let known = handles.get(name);
    if (known === undefined) {
      known = native.stat(name);
      handles.set(name, known);
    }
    return known;
  };
  const add = (...names: string[]): void => names.forEach((name) => native.counterAdd(handle(name), 1));
  let active = 0;
  const showActive = (): void => {
    native.gaugeSet(handle('http.admin.downstream_cx_active'), active);
    native.gaugeSet(handle('http.admin.downstream_cx_http1_active'), active);
    native.gaugeSet(handle('listener.admin.downstream_cx_active'), active);
    native.gaugeSet(handle('listener.admin.main_thread.downstream_cx_active'), active);
  };
  return {
    connectionOpened: () => {
      active += 1;
      add('http.admin.downstream_cx_total', 'http.admin.downstream_cx_http1_total');
      add('listener.admin.downstream_cx_total', 'listener.admin.main_thread.downstream_cx_total');
      showActive();
    },
    connectionClosed: () => {
      active -= 1;
      add('http.admin.downstream_cx_destroy', 'http.admin.downstream_cx_destroy_remote', 'listener.admin.downstream_cx_destroy');
      showActive();
    },
    answered: (status) => {
      const codes = `downstream_rq_${Math.floor(status / 100)}xx`;
      add('http.admin.downstream_rq_total', 'http.admin.downstream_rq_http1_total', 'http.admin.downstream_rq_completed', `http.admin.${codes}`);
      add('listener.admin.http.admin.downstream_rq_completed', `listener.admin.http.admin.${codes}`);
    },
  };
}
