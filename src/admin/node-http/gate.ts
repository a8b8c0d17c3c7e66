// The bytes of a connection, given to Node's parser a request at a time: it makes objects of all that it
// is given, however many requests come at once. What follows stays bytes, and most of it the kernel's.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

export class Gate extends Duplex {
  /** Whether the parser may have more; asked before each piece. */
  mayFeed: () => boolean = () => true;
  readonly #socket: Socket;
  #held: Buffer = NOTHING;
  #readBytes = 0;
  #hasEnded = false;
  #isDiscarding = false;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => {
      this.#hasEnded = true;
      this.feed();
    });
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /** What has been read, whether the parser has been given it or not. */
  get readBytes(): number {
    return this.#readBytes;
  }

  get holdsMore(): boolean {
    return this.#held.length > 0;
  }

  /** A piece has at most one end of a head: what comes after it is looked at once that request is over. */
  feed(): void {
    while (this.#held.length > 0 && this.readableLength === 0 && this.mayFeed()) {
      const end = this.#held.indexOf(END_OF_HEAD);
      const piece = end < 0 ? this.#held : this.#held.subarray(0, end + END_OF_HEAD.length);
      this.#held = this.#held.subarray(piece.length);
      this.push(piece);
    }
    if (this.#held.length > 0) return;
    if (!this.#hasEnded) this.#socket.resume();
    else if (!this.readableEnded) this.push(null);
  }

  /** Nothing more is of interest, but the kernel must not find it unread. */
  discard(): void {
    this.#isDiscarding = true;
    this.#held = NOTHING;
    this.#socket.resume();
  }

  /** As Node ends a connection whose last answer has been written. */
  destroySoon(): void {
    this.#socket.destroySoon();
  }

  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms);
    return this;
  }

  override _read(): void {
    // Later: pieces are looked at one by one only outside of this.
    process.nextTick(() => this.feed());
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    const whole = Buffer.concat(chunks.map(({ chunk }) => chunk));
    this.#socket.write(whole, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #take(chunk: Buffer): void {
    this.#readBytes += chunk.length;
    if (this.#isDiscarding) return;
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#socket.pause();
    this.feed();
  }
}
