// A connection to the admin server, by Node: its requests are answered one after the other, however many
// come at once.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { guarded } from '../../base/bugs.js';
import { startTimeout } from '../../base/timers.js';
import { Answer } from '../http/answer.js';
import {
  ADMIN_REQUEST,
  REQUEST_HEADERS,
  type AdminRequest,
  type AdminService,
  type ConnectionInfo,
  type RequestHeader,
} from '../http/http.js';
import { findHeadFault, statusOfParseError } from '../http/request-head.js';
import type { Accepted } from '../http/transport.js';
import { work } from '../http/turns.js';
import { Exchange } from './exchange.js';
import type { Gate } from './gate.js';

/** Of bytes that are no request. */
export interface ParseError extends NodeJS.ErrnoException {
  readonly reason?: string;
}

/** How long a client that was refused may take to read why. */
const LINGER_MS = 1000;
/** From its first byte to its last. */
const REQUEST_TIMEOUT_MS = 60_000;

const NO_HEADERS = Object.fromEntries(REQUEST_HEADERS.map((name) => [name, ''])) as Record<
  RequestHeader,
  string
>;

export class Connection {
  readonly #service: AdminService;
  readonly #gate: Gate;
  readonly #accepted: Accepted;
  readonly #openedMs = Date.now();
  /** What a piece brought beyond the request before. */
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
  /** The next answer is to be the last. */
  #isLeaving = false;
  #hasAsked = false;
  /** Its client has left amid a request. */
  #isTruncated = false;
  #lateTimer: NodeJS.Timeout | undefined;

  constructor(service: AdminService, gate: Gate, accepted: Accepted) {
    this.#service = service;
    this.#gate = gate;
    this.#accepted = accepted;
    gate.mayFeed = () => {
      if (!this.#isReady) return false;
      // The first piece of a request.
      if (!this.#current) this.#lateTimer ??= this.#watchTime();
      return true;
    };
    const closed = guarded(ADMIN_REQUEST, () => this.#closed());
    gate.once('close', closed);
  }

  serve(incoming: IncomingMessage, response: ServerResponse): void {
    this.#hasAsked = true;
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
    this.#isTruncated = code === 'HPE_INVALID_EOF_STATE';
    if (!code?.startsWith('HPE_') || this.#isTruncated) this.#gate.destroy();
    else if (this.#current?.isReading) this.#refuse(statusOfParseError(code, reason));
    else this.#enqueue(() => this.#refuse(statusOfParseError(code, reason)));
  }

  /** Ends after the answer that is under way, or after the first. False: there is none to come. */
  leave(): boolean {
    this.#isLeaving = true;
    return this.#current !== undefined || !this.#hasAsked;
  }

  get #isReady(): boolean {
    return !this.#isEnding && this.#waiting.length === 0 && (this.#current?.isReading ?? true);
  }

  #enqueue(begin: () => void): void {
    if (this.#isEnding) return;
    if (this.#current) this.#waiting.push(begin);
    else begin();
  }

  #over(): void {
    this.#current = undefined;
    this.#freeSinceMs = Date.now();
    this.#bytesBefore = this.#toldBytes;
    clearTimeout(this.#lateTimer);
    this.#lateTimer = undefined;
    if (this.#isEnding || this.#isLeaving) {
      this.#isEnding = true;
      this.#gate.end();
      this.#discard();
    } else if (this.#waiting.length > 0 || this.#gate.holdsMore) {
      // In its turn: others have come meanwhile.
      work(() => this.#next());
    } else {
      this.#gate.feed();
    }
  }

  #next(): false {
    if (this.#isEnding || this.#gate.destroyed) return false;
    const begin = this.#waiting.shift();
    if (begin) guarded(ADMIN_REQUEST, begin, () => this.#gate.destroy())();
    else this.#gate.feed();
    return false;
  }

  #watchTime(): NodeJS.Timeout {
    return startTimeout(() => this.#late(), REQUEST_TIMEOUT_MS).unref();
  }

  /** Whoever sends half a request is not waited for. */
  #late(): void {
    if (!this.#isEnding && this.#isReady) this.#refuse(408);
  }

  /** Without Node, which has no response for what is no request. */
  #refuse(status: number): void {
    const request = this.#current?.request ?? this.#headless();
    this.#current?.drop();
    this.#isEnding = true;
    this.#tellRead();
    const reply = this.#service.refuse(request, status);
    const body = String(reply.body);
    const answer = new Answer(this.#service, request, reply, true);
    answer.count(Buffer.byteLength(body));
    answer.finish();
    this.#gate.end(answer.head + body);
    this.#discard();
  }

  /** The client may take a moment to read the last answer. */
  #discard(): void {
    this.#gate.discard();
    const timer = startTimeout(() => this.#gate.destroy(), LINGER_MS);
    this.#gate.once('close', () => clearTimeout(timer));
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
    const { id, remoteAddress, localAddress } = this.#accepted;
    const receivedBytes = this.#gate.readBytes - this.#bytesBefore;
    return { id, remoteAddress, localAddress, receivedBytes };
  }

  #tellRead(): void {
    const bytes = this.#gate.readBytes - this.#toldBytes;
    if (bytes === 0) return;
    this.#service.received(bytes, this.#lastBytes);
    this.#toldBytes += bytes;
    this.#lastBytes = bytes;
  }

  #closed(): void {
    clearTimeout(this.#lateTimer);
    const hasMore = this.#isTruncated || this.#gate.readBytes > this.#toldBytes;
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
