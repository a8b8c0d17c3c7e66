// A request to the admin server and its answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { guarded } from '../../base/bugs.js';
import {
  ADMIN_REQUEST,
  MAX_BODY_BYTES,
  REASONS,
  REQUEST_HEADERS,
  endsConnection,
  replyHeaders,
  type AdminReply,
  type AdminRequest,
  type AdminService,
  type ConnectionInfo,
  type Framing,
  type Header,
  type RequestHeader,
} from './http.js';
import { asksToClose } from './request-head.js';
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

const LAST_CHUNK_BYTES = '0\r\n\r\n'.length;
const chunkBytes = (bytes: number): number => bytes + bytes.toString(16).length + '\r\n\r\n'.length;

export class Exchange {
  readonly #service: AdminService;
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: ExchangeConnection;
  readonly #beganMs = Date.now();
  #chunks: Buffer[] = [];
  #bodyBytes = 0;
  /** Once the request has come whole. */
  #asked: { readonly request: AdminRequest; readonly reply: AdminReply } | undefined;
  #headers: readonly Header[] = [];
  #isChunked = false;
  #isFinished = false;
  #isOver = false;
  #sentBytes = 0;
  #wireBytes = 0;

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
      guard(() => this.#answer()),
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
    if (this.#asked) this.#finish(true);
    else this.#service.abandoned(this.request);
    // It may be the end of the server.
    this.#asked?.reply.then?.();
    this.#connection.over();
  }

  #read(chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes <= MAX_BODY_BYTES) this.#chunks.push(chunk);
    else this.#chunks = [];
  }

  #answer(): void {
    const { request } = this;
    this.#chunks = [];
    this.#connection.tellRead();
    const isTooLong = this.#bodyBytes > MAX_BODY_BYTES;
    const reply = isTooLong ? this.#service.refuse(request, 413) : this.#service.answer(request);
    this.#asked = { request, reply };
    this.#writeHead(request, reply);
    const { body } = reply;
    if (request.method === 'HEAD') this.#end();
    else if (typeof body === 'string') this.#end(body);
    else if ('listen' in body) writeStream(this.#response, body, this.#sink);
    else writePage(this.#response, body, this.#sink);
  }

  #writeHead(request: AdminRequest, reply: AdminReply): void {
    const closes = endsConnection(request, reply);
    if (closes) this.#connection.ends();
    const framing = framingOf(reply);
    this.#isChunked = framing === 'chunked';
    const status = reply.status ?? 200;
    const reason = REASONS[status] ?? 'Error';
    const headers = replyHeaders(reply, framing, closes);
    this.#headers = headers;
    this.#wireBytes = `HTTP/1.1 ${status} ${reason}\r\n\r\n`.length;
    for (const [name, value] of headers) {
      this.#wireBytes += Buffer.byteLength(name) + Buffer.byteLength(value) + ': \r\n'.length;
    }
    // Node adds a date of its own spelling, and says that what is kept open is.
    this.#response.sendDate = false;
    this.#response.removeHeader('connection');
    if (framing === 'connection') this.#response.shouldKeepAlive = false;
    this.#response.useChunkedEncodingByDefault = this.#isChunked;
    this.#response.writeHead(status, reason, headers.flat());
  }

  readonly #sink = {
    count: (bytes: number): void => {
      this.#sentBytes += bytes;
      this.#wireBytes += this.#isChunked ? chunkBytes(bytes) : bytes;
    },
    end: (): void => this.#end(),
  };

  /** Who has the whole answer finds it counted and logged. */
  #end(text = ''): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > 0) this.#sink.count(bytes);
    if (this.#isChunked && this.#asked?.request.method !== 'HEAD')
      this.#wireBytes += LAST_CHUNK_BYTES;
    this.#finish(false);
    this.#response.end(text);
  }

  #finish(isCut: boolean): void {
    if (this.#isFinished || !this.#asked) return;
    this.#isFinished = true;
    const { request, reply } = this.#asked;
    this.#service.finished(request, reply, {
      headers: this.#headers,
      ofBody: this.#sentBytes,
      onWire: this.#wireBytes,
      isCut,
    });
  }
}

function framingOf({ body, fault }: AdminReply): Framing {
  if (typeof body === 'string') return fault ? Buffer.byteLength(body) : 'chunked';
  return 'listen' in body && !body.isChunked ? 'connection' : 'chunked';
}

function pickHeaders({ headers }: IncomingMessage): Record<RequestHeader, string> {
  const entries = REQUEST_HEADERS.map((name) => [name, String(headers[name] ?? '')]);
  return Object.fromEntries(entries) as Record<RequestHeader, string>;
}
