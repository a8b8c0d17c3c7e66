// An admin server's transport with a service that only notes what it hears.
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import {
  TOO_LONG_BODY,
  type AdminReply,
  type AdminRequest,
  type AdminService,
  type EndedConnection,
  type SentBytes,
} from '../../../../src/admin/http/http.js';
import { AdminListener } from '../../../../src/admin/http/listener.js';
import type { AdminTransport } from '../../../../src/admin/http/transport.js';
import { nodeHttpTransport } from '../../../../src/admin/node-http/node-http.js';
import { uwsTransport } from '../../../../src/admin/uws/uws-transport.js';
import { Log } from '../../../../src/logging/logger.js';
import { loadAddon } from '../../../../src/native.js';
import { PLAN } from '../fake-host.js';

export class FakeService implements AdminService {
  readonly requests: AdminRequest[] = [];
  readonly refused: number[] = [];
  readonly finishedBytes: number[] = [];
  readonly abandonedRequests: AdminRequest[] = [];
  readonly ended: EndedConnection[] = [];
  wireBytes = 0;
  receivedBytes = 0;
  cuts = 0;
  connections = 0;
  reply: AdminReply = { body: 'hello' };

  isFull = false;
  admitsSockets = true;

  connectionOpened(): boolean {
    if (!this.isFull) this.connections += 1;
    return !this.isFull;
  }
  connectionClosed(connection: EndedConnection): void {
    this.connections -= 1;
    this.ended.push(connection);
  }
  received(bytes: number): void {
    this.receivedBytes += bytes;
  }
  answer(request: AdminRequest): AdminReply {
    this.requests.push(request);
    return this.reply;
  }
  refuse(_request: AdminRequest, status: number): AdminReply {
    this.refused.push(status);
    if (status === 413) return { status, body: TOO_LONG_BODY };
    return { status, type: 'plain', body: 'no', fault: 'protocol' };
  }
  admitSocket(request: AdminRequest): boolean {
    this.requests.push(request);
    return this.admitsSockets;
  }
  look({ target }: AdminRequest): AdminReply {
    return { body: `${target} is well` };
  }
  abandoned(request: AdminRequest): void {
    this.abandonedRequests.push(request);
  }
  finished(_request: AdminRequest, _reply: AdminReply, { ofBody, onWire, isCut }: SentBytes): void {
    this.finishedBytes.push(ofBody);
    this.wireBytes += onWire;
    if (isCut) this.cuts += 1;
  }
  async untilClosed(): Promise<EndedConnection> {
    for (;;) {
      const [first] = this.ended;
      if (first) return first;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

type MakeTransport = (service: AdminService) => AdminTransport | undefined;

export const TRANSPORTS: Readonly<Record<string, MakeTransport>> = {
  'node:http': nodeHttpTransport,
  'uWebSockets.js': (service) => uwsTransport(service, loadAddon()),
};

export interface Running {
  readonly service: FakeService;
  readonly url: string;
  readonly port: number;
  close(): void;
}

/** Undefined, with a note, where no binary of it fits. */
export function listening(t: TestContext, name: string): Running | undefined {
  const service = new FakeService();
  const transport = TRANSPORTS[name]?.(service);
  if (!transport) {
    t.skip('no binary fits this Node and this C library');
    return undefined;
  }
  const host = { sockets: loadAddon(), log: new Log({ level: 'off', pattern: '%v' }) };
  const listener = new AdminListener(host, PLAN, service, transport);
  const close = (): void => listener.close();
  t.after(close);
  const url = `http://${listener.address}`;
  return { service, url, port: Number(new URL(url).port), close };
}

/** Sends requests one after the other's answer; all that came back until the connection ended. */
export async function exchange(url: string, requests: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  for (const request of requests) {
    socket.write(request);
    text += String(await new Promise((resolve) => socket.once('data', resolve)));
  }
  for await (const more of socket) text += String(more);
  return text;
}
