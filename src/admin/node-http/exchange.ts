// A request to the admin server and its answer, by Node.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { guarded } from '../../base/bugs.js';
import { Answer } from '../http/answer.js';
import { Waiting } from '../http/backlog.js';
import {
  ADMIN_REQUEST,
  MAX_BODY_BYTES,
  REQUEST_HEADERS,
  type AdminRequest,
  type AdminService,
  type ConnectionInfo,
  type RequestHeader,
} from '../http/http.js';
import { asksToClose } from '../http/request-head.js';
import { hasTime } from '../http/time.js';
import { work } from '../http/turns.js';
import { writePage, writeStream } from './write-body.js';

/** What an exchange wants of its connection. */
export interface ExchangeConnection {
  /** Tells the service what has come. */
  tellRead(): void;
  /** The answer that begins is its last. */
  ends(): void;
  describe(): ConnectionInfo;
  /** The next request may be answered. */
  over(): void;
}

export class Exchange {
  readonly #service: AdminService;
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: ExchangeConnection;
  readonly #beganMs = Date.now();
  #chunks: Buffer[] = [];
  #bodyBytes = 0;
  /** Once the request has come whole. */
  #answer: Answer | undefined;
  #isOver = false;

  constructor(
    service: AdminService,
    incoming: IncomingMessage,
    response: ServerResponse,
    connection: ExchangeConnection,
  ) {
    this.#service = service;
    this.#incoming = incoming;
    this.#response = response;
    this.#connection = connection;
    const destroy = (): void => void incoming.socket.destroy();
    const guard = (act: () => void): (() => void) => guarded(ADMIN_REQUEST, act, destroy);
    incoming.on('data', (chunk: Buffer) => this.#read(chunk));
    incoming.on(
      'end',
      guard(() => this.#replyInTime()),
    );
    response.once(
      'close',
      guard(() => this.cut()),
    );
  }

  /** Its request has not come whole. */
  get isReading(): boolean {
    return !this.#incoming.complete;
  }

  /** The request, as far as it has come. */
  get request(): AdminRequest {
    const { method = '', url = '' } = this.#incoming;
    return {
      method,
      target: url,
      rawHeaders: this.#incoming.rawHeaders,
      headers: pickHeaders(this.#incoming),
      body: Buffer.concat(this.#chunks).toString(),
      beganMs: this.#beganMs,
      namesHost: this.#incoming.headers.host !== undefined,
      asksToClose: asksToClose(this.#incoming),
      connection: this.#connection.describe(),
    };
  }

  /** Somebody else answers. */
  drop(): void {
    this.#isOver = true;
  }

  /** Its client has the answer, or has gone. */
  cut(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#answer) this.#answer.cut();
    else this.#service.abandoned(this.request);
    // It may be the end of the server.
    this.#answer?.reply.then?.();
    this.#connection.over();
  }

  #read(chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes <= MAX_BODY_BYTES) this.#chunks.push(chunk);
    else this.#chunks = [];
  }

  /** Whoever sends many requests at once keeps nobody waiting. */
  #replyInTime(): void {
    if (hasTime()) {
      this.#reply();
      return;
    }
    work(() => {
      const destroy = (): void => void this.#incoming.socket.destroy();
      if (!this.#isOver) guarded(ADMIN_REQUEST, () => this.#reply(), destroy)();
      return false;
    });
  }

  #reply(): void {
    const { request } = this;
    this.#chunks = [];
    this.#connection.tellRead();
    const isTooLong = this.#bodyBytes > MAX_BODY_BYTES;
    const reply = isTooLong ? this.#service.refuse(request, 413) : this.#service.answer(request);
    const answer = new Answer(this.#service, request, reply);
    this.#answer = answer;
    if (answer.closes) this.#connection.ends();
    this.#writeHead(answer);
    const { body } = reply;
    const sink = {
      count: (bytes: number): void => answer.count(bytes),
      end: (): void => this.#end(answer),
    };
    if (!answer.hasBody) this.#end(answer);
    else if (typeof body === 'string') this.#end(answer, body);
    else if ('listen' in body) writeStream(this.#response, body, sink);
    else writePage(this.#response, body, sink);
  }

  #writeHead({ status, reason, headers, framing }: Answer): void {
    // Node adds a date of its own spelling, and says that what is kept open is.
    this.#response.sendDate = false;
    this.#response.removeHeader('connection');
    if (framing === 'connection') this.#response.shouldKeepAlive = false;
    this.#response.useChunkedEncodingByDefault = framing === 'chunked';
    this.#response.writeHead(status, reason, headers.flat());
  }

  #end(answer: Answer, text = ''): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > 0) answer.count(bytes);
    answer.finish();
    this.#response.end(text);
    if (this.#response.writableLength === 0) return;
    const waiting = new Waiting();
    this.#response.once('close', () => waiting.set(0));
    if (!waiting.set(this.#response.writableLength)) this.#response.destroy();
  }
}

function pickHeaders({ headers }: IncomingMessage): Record<RequestHeader, string> {
  const entries = REQUEST_HEADERS.map((name) => [name, String(headers[name] ?? '')]);
  return Object.fromEntries(entries) as Record<RequestHeader, string>;
}
