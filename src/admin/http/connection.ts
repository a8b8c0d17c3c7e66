// A connection to the admin server: its requests are answered one after the other, however many come
// at once.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { guarded } from '../../base/bugs.js';
import { Exchange } from './exchange.js';
import {
  ADMIN_REQUEST,
  REASONS,
  addressText,
  REQUEST_HEADERS,
  replyHeaders,
  type AdminRequest,
  type AdminService,
  type ConnectionInfo,
  type RequestHeader,
} from './http.js';
import { findHeadFault, statusOfParseError } from './request-head.js';
import { startTimeout } from '../../base/timers.js';

/** Of bytes that are no request, or of a client that is late. */
export interface ParseError extends NodeJS.ErrnoException {
  readonly reason?: string;
}

/** Requests that wait for the answers before theirs. Whoever sends more is not served. */
const MAX_WAITING = 1000;
/** How long a client that was refused may take to read why. */
const LINGER_MS = 1000;

const NO_HEADERS = Object.fromEntries(REQUEST_HEADERS.map((name) => [name, ''])) as Record<
  RequestHeader,
  string
>;

const textOf = (address: string | undefined, port: number | undefined): string =>
  address === undefined || port === undefined ? '' : addressText(address, port);

export class Connection {
  readonly #service: AdminService;
  readonly #socket: Socket;
  readonly #ends: Omit<ConnectionInfo, 'receivedBytes'>;
  readonly #openedMs = Date.now();
  readonly #waiting: (() => void)[] = [];
  #current: Exchange | undefined;
  /** Of what came, and was told of. */
  #toldBytes = 0;
  #lastBytes = 0;
  /** What had come when the last answer was over. */
  #bytesBefore = 0;
  /** When that was. */
  #freeSinceMs = this.#openedMs;
  #isEnding = false;
  /** Its client has left amid a request. */
  #isTruncated = false;

  constructor(service: AdminService, socket: Socket, id: number) {
    this.#service = service;
    this.#socket = socket;
    this.#ends = {
      id,
      remoteAddress: textOf(socket.remoteAddress, socket.remotePort),
      localAddress: textOf(socket.localAddress, socket.localPort),
    };
    socket.once(
      'close',
      guarded(ADMIN_REQUEST, () => this.#closed()),
    );
  }

  serve(incoming: IncomingMessage, response: ServerResponse): void {
    this.#enqueue(() => {
      const fault = findHeadFault(incoming);
      if (fault !== undefined) {
        this.#refuse(fault);
        return;
      }
      this.#current = new Exchange(this.#service, incoming, response, {
        tellRead: () => this.#tellRead(),
        describe: () => this.#describe(),
        ends: () => (this.#isEnding = true),
        over: () => this.#over(),
      });
    });
  }

  /** There is nothing behind this server. */
  refuseTunnel(): void {
    this.#enqueue(() => this.#refuse(400));
  }

  /** What came can be read no further. */
  fail(error: ParseError): void {
    const { code, reason } = error;
    // What follows a request that is its connection's last.
    if (code === 'HPE_CLOSED_CONNECTION') return;
    const isParserError = code?.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT';
    this.#isTruncated = code === 'HPE_INVALID_EOF_STATE';
    if (!isParserError || this.#isTruncated) this.#socket.destroy();
    else if (this.#current?.isReading) this.#refuse(statusOfParseError(code, reason));
    else this.#enqueue(() => this.#refuse(statusOfParseError(code, reason)));
  }

  #enqueue(begin: () => void): void {
    if (this.#isEnding) return;
    if (!this.#current) begin();
    else if (this.#waiting.push(begin) > MAX_WAITING) this.#socket.destroy();
  }

  #over(): void {
    this.#current = undefined;
    this.#freeSinceMs = Date.now();
    this.#bytesBefore = this.#toldBytes;
    if (!this.#isEnding && !this.#socket.destroyed) this.#waiting.shift()?.();
  }

  /** Without Node, which has no response for what is no request. */
  #refuse(status: number): void {
    const request = this.#current?.request ?? this.#headless();
    this.#current?.drop();
    this.#isEnding = true;
    this.#tellRead();
    const reply = this.#service.refuse(request, status);
    const body = String(reply.body);
    const headers = replyHeaders(reply, body.length, true);
    const lines = headers.map(([name, value]) => `${name}: ${value}`);
    const text = [`HTTP/1.1 ${status} ${REASONS[status]}`, ...lines, '', body].join('\r\n');
    this.#service.finished(request, reply, {
      headers,
      ofBody: body.length,
      onWire: text.length,
      isCut: false,
    });
    this.#socket.end(text);
    const timer = startTimeout(() => this.#socket.destroy(), LINGER_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  /** A request of which there is nothing to tell. */
  #headless(): AdminRequest {
    return {
      method: '',
      target: '',
      rawHeaders: [],
      headers: NO_HEADERS,
      body: '',
      beganMs: this.#freeSinceMs,
      namesHost: false,
      asksToClose: false,
      connection: this.#describe(),
    };
  }

  #describe(): ConnectionInfo {
    return { ...this.#ends, receivedBytes: this.#socket.bytesRead - this.#bytesBefore };
  }

  #tellRead(): void {
    const bytes = this.#socket.bytesRead - this.#toldBytes;
    if (bytes === 0) return;
    this.#service.received(bytes, this.#lastBytes);
    this.#toldBytes += bytes;
    this.#lastBytes = bytes;
  }

  #closed(): void {
    const hasMore = this.#isTruncated || this.#socket.bytesRead > this.#toldBytes;
    this.#tellRead();
    if (this.#current) this.#current.cut();
    else if (hasMore && !this.#isEnding) this.#service.abandoned(this.#headless());
    this.#service.connectionClosed({
      lengthMs: Date.now() - this.#openedMs,
      isLocal: this.#isEnding,
      lastBytes: this.#lastBytes,
    });
  }
}
