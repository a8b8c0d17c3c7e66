// What the service hears of a connection that uWebSockets.js has.
import type { Addon } from '../../native.js';
import type { AdminService, ConnectionInfo } from '../http/http.js';
import { Allowance } from '../http/time.js';
import type { Accepted } from '../http/transport.js';

export class Connection {
  readonly accepted: Accepted;
  readonly allowance = new Allowance();
  readonly #service: AdminService;
  readonly #sockets: Pick<Addon, 'receivedBytes'>;
  readonly #openedMs = Date.now();
  #toldBytes = 0;
  #lastBytes = 0;
  /** What had come when the last answer was over. */
  #bytesBefore = 0;
  #isEnding = false;
  #isClosed = false;

  constructor(service: AdminService, sockets: Pick<Addon, 'receivedBytes'>, accepted: Accepted) {
    this.#service = service;
    this.#sockets = sockets;
    this.accepted = accepted;
  }

  /** This side ends it. */
  ends(): void {
    this.#isEnding = true;
  }

  /** Tells the service what has come. Only while the descriptor is open. */
  tellRead(): void {
    const bytes = this.#sockets.receivedBytes(this.accepted.fd) - this.#toldBytes;
    if (bytes <= 0) return;
    this.#service.received(bytes, this.#lastBytes);
    this.#toldBytes += bytes;
    this.#lastBytes = bytes;
  }

  /** As far as `tellRead` has told. */
  describe(): ConnectionInfo {
    const { id, remoteAddress, localAddress } = this.accepted;
    return { id, remoteAddress, localAddress, receivedBytes: this.#toldBytes - this.#bytesBefore };
  }

  /** An answer is over. */
  over(): void {
    this.#bytesBefore = this.#toldBytes;
  }

  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#service.connectionClosed({
      lengthMs: Date.now() - this.#openedMs,
      isLocal: this.#isEnding,
      lastBytes: this.#lastBytes,
    });
  }
}
