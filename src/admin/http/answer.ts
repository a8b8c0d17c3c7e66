// An answer on its way out, whoever writes it: its head, and what the service hears of what was sent.
import {
  REASONS,
  endsConnection,
  replyHeaders,
  type AdminReply,
  type AdminRequest,
  type AdminService,
  type Framing,
  type Header,
} from './http.js';

const LAST_CHUNK_BYTES = '0\r\n\r\n'.length;
const chunkBytes = (bytes: number): number => bytes + bytes.toString(16).length + '\r\n\r\n'.length;

export class Answer {
  readonly request: AdminRequest;
  readonly reply: AdminReply;
  readonly status: number;
  readonly reason: string;
  readonly framing: Framing;
  /** It is its connection's last. */
  readonly closes: boolean;
  /** In the order in which they are sent. */
  readonly headers: readonly Header[];
  readonly #service: AdminService;
  #sentBytes = 0;
  #wireBytes: number;
  #isFinished = false;

  constructor(
    service: AdminService,
    request: AdminRequest,
    reply: AdminReply,
    closes = endsConnection(request, reply),
  ) {
    this.#service = service;
    this.request = request;
    this.reply = reply;
    this.status = reply.status ?? 200;
    this.reason = REASONS[this.status] ?? 'Error';
    this.framing = framingOf(reply);
    this.closes = closes;
    this.headers = replyHeaders(reply, this.framing, closes);
    this.#wireBytes = `${this.statusLine}\r\n\r\n`.length;
    for (const [name, value] of this.headers) {
      this.#wireBytes += Buffer.byteLength(name) + Buffer.byteLength(value) + ': \r\n'.length;
    }
  }

  get statusLine(): string {
    return `HTTP/1.1 ${this.status} ${this.reason}`;
  }

  get hasBody(): boolean {
    return this.request.method !== 'HEAD';
  }

  /** As it is written by whoever has nobody to write it. */
  get head(): string {
    const lines = this.headers.map(([name, value]) => `${name}: ${value}`);
    return [this.statusLine, ...lines, '', ''].join('\r\n');
  }

  /** These bytes of the body go out. */
  count(bytes: number): void {
    this.#sentBytes += bytes;
    this.#wireBytes += this.framing === 'chunked' ? chunkBytes(bytes) : bytes;
  }

  /** To be called before the last bytes go: who has the whole answer finds it counted and logged. */
  finish(): void {
    if (this.framing === 'chunked' && this.hasBody) this.#wireBytes += LAST_CHUNK_BYTES;
    const { body, fault } = this.reply;
    // As the real server: to HEAD it has answered whole, though nothing of the body went out.
    if (!this.hasBody && !fault && typeof body === 'string') {
      this.#sentBytes = Buffer.byteLength(body);
    }
    this.#tell(false);
  }

  /** Its reader has gone, perhaps with all of it. */
  cut(): void {
    this.#tell(true);
  }

  #tell(isCut: boolean): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#service.finished(this.request, this.reply, {
      headers: this.headers,
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
