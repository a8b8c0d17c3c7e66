// Where connections to the admin server come in.
import { closeSync } from 'node:fs';
import { guarded } from '../../base/bugs.js';
import type { Acceptor } from '../../native.js';
import type { AdminPlan } from '../../plan/bootstrap/admin.js';
import type { AdminHost } from '../host.js';
import { ADMIN_REQUEST, type AdminService } from './http.js';
import { openSocket } from './listen-socket.js';
import type { AdminTransport } from './transport.js';

export class AdminListener {
  /** "127.0.0.1:9901", or a pipe's path. */
  readonly address: string;
  readonly #service: AdminService;
  readonly #transport: AdminTransport;
  readonly #isPipe: boolean;
  readonly #acceptor: Acceptor;
  #count = 0;

  /** Throws when the address is taken. */
  constructor(
    host: Pick<AdminHost, 'sockets' | 'log'>,
    { address, socketOptions }: AdminPlan,
    service: AdminService,
    transport: AdminTransport,
  ) {
    this.#service = service;
    this.#transport = transport;
    this.#isPipe = 'pipe' in address;
    const socket = openSocket(host, address, socketOptions);
    this.address = socket.address;
    const take = (fd: number, remote: string, local: string): void => this.#take(fd, remote, local);
    this.#acceptor = host.sockets.acceptConnections(socket.fd, guarded(ADMIN_REQUEST, take));
  }

  /** Whoever has connected is served. */
  close(): void {
    this.#acceptor.closeWhenAccepted();
    this.#transport.close();
  }

  #take(fd: number, remote: string, local: string): void {
    if (!this.#service.connectionOpened()) {
      closeSync(fd);
      return;
    }
    const [remoteAddress, localAddress] = this.#isPipe ? ['', ''] : [remote, local];
    this.#transport.serve({ fd, id: this.#count, remoteAddress, localAddress });
    this.#count += 1;
  }
}
