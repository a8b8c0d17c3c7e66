// An App of uWebSockets.js that has one connection at a time. uWebSockets.js does not say on which
// connection a request came; so each has an App of its own, which the next one takes over.
import { Socket } from 'node:net';
import { guarded } from '../../base/bugs.js';
import { startTimeout } from '../../base/timers.js';
import type { Addon } from '../../native.js';
import type { Answer } from '../http/answer.js';
import {
  ADMIN_REQUEST,
  LIVE_PATH,
  type AdminRequest,
  type AdminService,
  type Stream,
} from '../http/http.js';
import type { Accepted } from '../http/transport.js';
import { Connection } from './connection.js';
import { Exchange } from './exchange.js';
import { readHead, requestOf } from './head.js';
import { liveSocket } from './live-socket.js';
import { writeRawStream } from './raw-stream.js';
import type { Uws, UwsApp, UwsRequest, UwsResponse } from './uws.js';

export type Sockets = Pick<Addon, 'receivedBytes' | 'duplicateDescriptor'>;

export class Slot {
  readonly #service: AdminService;
  readonly #sockets: Sockets;
  readonly #onFree: (slot: Slot) => void;
  readonly #app: UwsApp;
  /** Undefined also behind a request with which it has ended: what follows in the same bytes is nobody's. */
  #connection: Connection | undefined;
  #exchange: Exchange | undefined;
  /** Of a stream that goes on without uWebSockets.js. */
  #endStream: (() => void) | undefined;
  #isLeaving = false;
  /** A request has come on the connection. */
  #hasAsked = false;

  constructor(uws: Uws, service: AdminService, sockets: Sockets, onFree: (slot: Slot) => void) {
    this.#service = service;
    this.#sockets = sockets;
    this.#onFree = onFree;
    this.#app = uws.App();
    const closed = guarded(ADMIN_REQUEST, () => this.#closed());
    this.#app.filter((_, change) => change < 0 && closed());
    this.#app.ws(
      LIVE_PATH,
      liveSocket(service, {
        describe: (request) => this.#describe(request),
        serve: (response, request) => this.#serve(response, request),
        closed,
      }),
    );
    this.#app.any('/*', (response, request) => this.#serve(response, request));
  }

  adopt(accepted: Accepted): void {
    this.#isLeaving = false;
    this.#hasAsked = false;
    this.#connection = new Connection(this.#service, this.#sockets, accepted);
    this.#app.adoptSocket(accepted.fd);
  }

  /** Ends after the answer that is under way, or after the first; at once where there is none to come. */
  leave(): void {
    this.#isLeaving = true;
    this.#connection?.ends();
    if (!this.#exchange && this.#hasAsked) this.close();
  }

  close(): void {
    this.#endStream?.();
    this.#app.close();
  }

  #serve(response: UwsResponse, request: UwsRequest): void {
    let exchange: Exchange | undefined;
    response.onAborted(guarded(ADMIN_REQUEST, () => exchange?.aborted()));
    const begin = (): void => {
      const connection = this.#connection;
      if (!connection) {
        response.close();
        return;
      }
      this.#hasAsked = true;
      exchange = new Exchange(this.#service, response, readHead(request), {
        connection,
        handOver: (answer, stream) => this.#handOver(connection, answer, stream),
        closeSoon: () => this.#closeSoon(),
        over: () => this.#over(connection),
      });
      this.#exchange = exchange;
      exchange.begin();
    };
    guarded(ADMIN_REQUEST, begin, () => response.close())();
  }

  /** Of a request without a body. */
  #describe(request: UwsRequest): AdminRequest | undefined {
    const connection = this.#connection;
    if (!connection) return undefined;
    this.#hasAsked = true;
    connection.tellRead();
    return requestOf(readHead(request), '', Date.now(), connection.describe());
  }

  #over(connection: Connection): void {
    connection.over();
    this.#exchange = undefined;
    if (this.#isLeaving) this.#closeSoon();
  }

  #closeSoon(): void {
    startTimeout(() => this.#app.close(), 0);
  }

  /** uWebSockets.js loses the connection, which does not notice: another descriptor is open. */
  #handOver(connection: Connection, answer: Answer, stream: Stream): void {
    const fd = this.#sockets.duplicateDescriptor(connection.accepted.fd);
    connection.ends();
    this.#connection = undefined;
    this.#exchange = undefined;
    const socket = new Socket({ fd, readable: true, writable: true });
    this.#endStream = writeRawStream(socket, answer, stream, () => {
      connection.closed();
      answer.reply.then?.();
      this.#free();
    });
  }

  #closed(): void {
    const connection = this.#connection;
    // A stream goes on without it.
    if (!connection) return;
    this.#exchange?.aborted();
    connection.closed();
    this.#free();
  }

  #free(): void {
    this.#connection = undefined;
    this.#exchange = undefined;
    this.#endStream = undefined;
    this.#onFree(this);
  }
}
