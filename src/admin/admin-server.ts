// The admin server: which endpoint answers, what is refused before any does, and what is counted.
import { reportBug } from '../base/bugs.js';
import type { AdminPlan } from '../plan/bootstrap/admin.js';
import { localAddress } from '../base/local-address.js';
import { logRequest } from './http/access-log.js';
import { compileAllowedPaths } from './http/allowed-paths.js';
import { AdminCounts } from './http/counts.js';
import { endpointList, type Endpoint } from './endpoint.js';
import { makeEndpoints } from './endpoints.js';
import { findForeignHost, findForgery, isLocal, keepFromFrames } from './http/guard.js';
import type { AdminHost } from './host.js';
import {
  ONLY_SOCKETS,
  REASONS,
  TOO_LONG_BODY,
  badRequest,
  type AdminReply,
  type AdminRequest,
  type AdminService,
  type EndedConnection,
  type SentBytes,
} from './http/http.js';
import { AdminListener, type InheritedSocket } from './http/listener.js';
import { parseParameters } from './http/parameters.js';
import { parseTarget } from './http/target.js';
import type { AdminTransport } from './http/transport.js';

const NO_HOST: AdminReply = { status: 400, body: '', fault: 'host' };
const BAD_PATH: AdminReply = { status: 400, body: '', fault: 'path' };
const ELSEWHERE: AdminReply = { status: 404, body: '', fault: 'elsewhere' };
const SWITCHED = { status: 101, body: '' } as const;
const NOTHING_SENT: SentBytes = { headers: [], ofBody: 0, onWire: 0, isCut: false };
const FORM = 'application/x-www-form-urlencoded';

export class AdminServer implements AdminService {
  /** Where it listens, once it does. */
  address = '';
  readonly #host: AdminHost;
  readonly #plan: AdminPlan;
  readonly #endpoints: readonly Endpoint[];
  readonly #byPath: ReadonlyMap<string, Endpoint>;
  readonly #isAllowed: (target: string) => boolean;
  readonly #counts: AdminCounts;
  #listener: AdminListener | undefined;

  constructor(host: AdminHost, plan: AdminPlan) {
    this.#host = host;
    this.#plan = plan;
    this.#endpoints = makeEndpoints(host, plan);
    this.#byPath = new Map(this.#endpoints.map((endpoint) => [endpoint.path, endpoint]));
    this.#isAllowed = compileAllowedPaths(plan.allowPaths);
    this.#counts = new AdminCounts(host.stats);
  }

  /** On this socket, if it is the one that is wanted. Rejects when the address is taken. */
  async listen(inherited?: InheritedSocket): Promise<void> {
    const { address } = this.#plan;
    const transport = await this.#makeTransport();
    this.#listener = new AdminListener(this.#host, this.#plan, this, transport, inherited);
    this.address = this.#listener.address;
    this.#host.log.info('admin', `admin server by ${transport.name}`);
    if (!isLocal(address)) {
      this.#host.log.warn(
        'admin',
        `the admin server listens on ${this.address}: whoever reaches it can stop and change this proxy`,
      );
    }
  }

  close(): void {
    this.#listener?.close();
    this.#listener = undefined;
  }

  /** Gives its socket, which a successor may take over; connections wait there until one accepts. */
  suspend(): InheritedSocket | undefined {
    const socket = this.#listener?.socket;
    if (socket) this.#listener?.suspend();
    else this.close();
    return socket;
  }

  /** There is no successor after all. */
  async resume(): Promise<void> {
    if (this.#listener) this.#listener.resume();
    else await this.listen();
  }

  /** The successor accepts. */
  letGo(): void {
    this.#listener?.letGo();
    this.#listener = undefined;
  }

  /** Loaded only where there is an admin server, and only one of them. */
  async #makeTransport(): Promise<AdminTransport> {
    if ('host' in this.#plan.address) {
      const { uwsTransport } = await import('./uws/uws-transport.js');
      const transport = uwsTransport(this, this.#host.sockets);
      if (transport) return transport;
    }
    const { nodeHttpTransport } = await import('./node-http/node-http.js');
    return nodeHttpTransport(this);
  }

  connectionOpened(): boolean {
    const mayOpen = this.#host.native.addConnection(this.#plan.ignoresConnectionLimit);
    if (mayOpen) this.#counts.connectionOpened();
    else this.#counts.connectionRefused();
    return mayOpen;
  }

  connectionClosed(connection: EndedConnection): void {
    this.#host.native.removeConnection();
    this.#counts.connectionClosed(connection);
  }

  received(bytes: number, bytesBefore: number): void {
    this.#counts.received(bytes, bytesBefore);
  }

  answer(request: AdminRequest): AdminReply {
    this.#counts.requestBegan();
    const reply = this.#safeReply(request);
    if (reply.fault === 'path') this.#counts.pathRefused();
    if (reply.fault === 'elsewhere') this.#counts.askedElsewhere();
    if (!reply.countsAtEnd) this.#counts.answered(reply.status ?? 200);
    return reply;
  }

  admitSocket(request: AdminRequest): boolean {
    const isOpen = this.#safeReply({ ...request, method: 'GET' }) === ONLY_SOCKETS;
    // Browsers let any site open one, and read what it says.
    if (!isOpen || findForgery(request) !== undefined) return false;
    this.#counts.requestBegan();
    this.#counts.answered(SWITCHED.status);
    this.finished(request, SWITCHED, NOTHING_SENT);
    return true;
  }

  look(request: AdminRequest): AdminReply {
    return this.#safeReply({ ...request, method: 'GET', body: '' });
  }

  refuse(request: AdminRequest, status: number): AdminReply {
    this.#counts.requestBegan();
    this.#counts.answered(status);
    if (status === 413) return { status, body: TOO_LONG_BODY };
    this.#counts.requestMalformed();
    return { status, type: 'plain', body: REASONS[status] ?? '', fault: 'protocol' };
  }

  abandoned(request: AdminRequest): void {
    this.#counts.requestBegan();
    this.#counts.requestLeft();
    this.#counts.requestEnded(Date.now() - request.beganMs, 0);
    this.#log(request, { status: 0, body: '' }, { headers: [], ofBody: 0, onWire: 0, isCut: true });
  }

  finished(request: AdminRequest, reply: AdminReply, sent: SentBytes): void {
    if (reply.countsAtEnd) this.#counts.answered(reply.status ?? 200);
    if (sent.isCut) this.#counts.requestLeft();
    this.#counts.requestEnded(Date.now() - request.beganMs, sent.onWire);
    this.#log(request, reply, sent);
  }

  #log(request: AdminRequest, reply: AdminReply, sent: SentBytes): void {
    if (this.#plan.accessLogs.length === 0) return;
    const { localAddressIpVersion } = this.#host.options;
    logRequest(this.#host.native, request, reply, sent, localAddress(localAddressIpVersion));
  }

  #safeReply(request: AdminRequest): AdminReply {
    try {
      return this.#reply(request);
    } catch (thrown) {
      reportBug(`the admin request ${request.method} ${request.target}`, thrown);
      return { status: 500, body: 'internal error\n' };
    }
  }

  #reply(request: AdminRequest): AdminReply {
    const { method, target, headers, body } = request;
    const refusal = request.namesHost ? refuseTarget(target) : NO_HOST;
    if (refusal) return refusal;
    const { path, query } = parseTarget(target);
    this.#host.log.debug('admin', `request: ${method} ${target}`);
    const { adminAllowedHost } = this.#host.options;
    const foreign = findForeignHost(request, this.#plan.address, adminAllowedHost);
    if (foreign !== undefined) return { status: 403, body: foreign };
    const asked = query === '' ? path : `${path}?${query}`;
    if (!this.#isAllowed(asked))
      return { status: 403, body: `request to path ${asked} not allowed` };
    const endpoint = this.#byPath.get(path);
    if (!endpoint) return { status: 404, body: `invalid path. ${endpointList(this.#endpoints)}` };
    if (endpoint.mutates && method !== 'POST') {
      return badRequest(`Method ${method} not allowed, POST required.`);
    }
    const forged = endpoint.mutates ? findForgery(request) : undefined;
    if (forged !== undefined) return { status: 403, body: forged };
    // A form counts where the query is empty.
    const isForm = headers['content-type'] === FORM && !endpoint.ignoresForm;
    const form = isForm ? body : '';
    const parameters = parseParameters(query || form);
    const reply = endpoint.handle({ body, accept: headers.accept, parameters });
    return keepFromFrames(reply, request);
  }
}

/** What is no path of this server, before anything looks at it. */
function refuseTarget(target: string): AdminReply | undefined {
  if (!target.startsWith('/')) return ELSEWHERE;
  const [path = ''] = target.split('?', 1);
  return target.includes('#') || path.includes('%00') ? BAD_PATH : undefined;
}
