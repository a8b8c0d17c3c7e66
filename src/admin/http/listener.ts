// Where connections to the admin server come in.
import { closeSync } from 'node:fs';
import { guarded } from '../../base/bugs.js';
import type { Acceptor } from '../../native.js';
import type { AdminPlan } from '../../plan/bootstrap/admin.js';
import type { AdminHost } from '../host.js';
import { ADMIN_REQUEST, addressText, type AdminService } from './http.js';
import { openSocket } from './listen-socket.js';
import type { AdminTransport } from './transport.js';

/** A socket that another process has listened on. */
export interface InheritedSocket {
  readonly fd: number;
  /** As the kernel says it. */
  readonly address: string;
}

export class AdminListener {
  /** "127.0.0.1:9901", or a pipe's path. */
  readonly address: string;
  readonly #service: AdminService;
  readonly #transport: AdminTransport;
  readonly #isPipe: boolean;
  readonly #fd: number;
  readonly #acceptor: Acceptor;
  #count = 0;
  #isSuspended = false;

  /** Takes the inherited socket, if it is the one that is wanted. Throws when the address is taken. */
  constructor(
    host: Pick<AdminHost, 'sockets' | 'log'>,
    { address, socketOptions }: AdminPlan,
    service: AdminService,
    transport: AdminTransport,
    inherited?: InheritedSocket,
  ) {
    this.#service = service;
    this.#transport = transport;
    this.#isPipe = 'pipe' in address;
    const isWanted =
      'host' in address && inherited?.address === addressText(address.host, address.port);
    if (inherited && !isWanted) closeSync(inherited.fd);
    const socket = inherited && isWanted ? inherited : openSocket(host, address, socketOptions);
    this.address = socket.address;
    this.#fd = socket.fd;
    const take = (fd: number, remote: string, local: string): void => this.#take(fd, remote, local);
    this.#acceptor = host.sockets.acceptConnections(socket.fd, guarded(ADMIN_REQUEST, take));
  }

  /** The socket, for a successor; undefined where it makes one of its own. */
  get socket(): InheritedSocket | undefined {
    return this.#isPipe ? undefined : { fd: this.#fd, address: this.address };
  }

  /** Connections wait for a successor, or for `resume`; those that are open end. */
  suspend(): void {
    this.#isSuspended = true;
    this.#acceptor.pause();
    this.#transport.close();
  }

  resume(): void {
    this.#isSuspended = false;
    this.#acceptor.resume();
  }

  /** Nothing waits for anybody any more: a successor that has the socket accepts. */
  letGo(): void {
    this.#acceptor.close();
  }

  /** Whoever has connected is served, but by a successor where there is one. */
  close(): void {
    if (this.#isSuspended) this.#acceptor.close();
    else this.#acceptor.closeWhenAccepted();
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
