// Both ends of a proxy, byte by byte: an origin that is a script, a client that is a socket.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

const READ_TIMEOUT_MS = 10_000;

/** One peer of a connection: what has come so far, and ways to wait for more. */
export class Peer {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #ended: 'open' | 'end' | 'reset' = 'open';
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    socket.on('end', () => this.#finish('end'));
    socket.on('error', () => this.#finish('reset'));
    socket.on('close', () => this.#finish('end'));
  }

  /** What has come and was not taken. */
  get received(): string {
    return this.#received.toString('latin1');
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Ends its own half. */
  end(): void {
    this.socket.end();
  }

  /** Leaves with a RST. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Takes everything up to and including `text`. */
  async take(text: string): Promise<string> {
    await this.#until(() => this.#received.includes(text), `"${text}"`);
    return this.#cut(this.#received.indexOf(text) + text.length);
  }

  async takeBytes(count: number): Promise<string> {
    await this.#until(() => this.#received.length >= count, `${count} bytes`);
    return this.#cut(count);
  }

  /** A request or a response whose body, if any, has a content-length. */
  async takeMessage(): Promise<Message> {
    const head = await this.take('\r\n\r\n');
    const length = Number(/^content-length: (\d+)\r$/im.exec(head)?.[1] ?? 0);
    const [startLine = '', ...lines] = head.slice(0, -4).split('\r\n');
    return { startLine, headers: lines.map(lowerName), body: await this.takeBytes(length) };
  }

  /** Resolves when the other side has closed its half, or all. Takes what came before. */
  async closed(): Promise<{ readonly rest: string; readonly how: 'end' | 'reset' }> {
    await this.#until(() => this.#ended !== 'open', 'the end');
    const rest = this.#cut(this.#received.length);
    return { rest, how: this.#ended === 'reset' ? 'reset' : 'end' };
  }

  #finish(how: 'end' | 'reset'): void {
    if (this.#ended === 'open') this.#ended = how;
    this.#wake();
  }

  #cut(count: number): string {
    const text = this.#received.subarray(0, count).toString('latin1');
    this.#received = this.#received.subarray(count);
    return text;
  }

  async #until(isDone: () => boolean, what: string): Promise<void> {
    const end = Date.now() + READ_TIMEOUT_MS;
    while (!isDone()) {
      if (this.#ended !== 'open' || Date.now() > end) {
        const why = this.#ended === 'open' ? 'in time' : `before the ${this.#ended}`;
        throw new Error(`${what} did not come ${why}; got ${JSON.stringify(this.received)}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

export interface Message {
  readonly startLine: string;
  /** "name: value", names in lower case. */
  readonly headers: readonly string[];
  readonly body: string;
}

function lowerName(line: string): string {
  const colon = line.indexOf(':');
  return line.slice(0, colon).toLowerCase() + line.slice(colon);
}

/** Connected when it resolves; gone when the story ends. */
export async function connectClient(t: TestContext, port: number): Promise<Peer> {
  return new Peer(await connectSocket(t, port));
}

/** For those who count bytes instead of keeping them. */
export async function connectSocket(t: TestContext, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  t.after(() => socket.destroy());
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket;
}

export interface Origin {
  readonly port: number;
  /** Connections so far. */
  readonly connectionCount: number;
  /** Stops listening and resets every connection, as a process does that is killed. */
  kill(): Promise<void>;
}

/** An origin that runs `script` on each connection; on a port of its own, unless one is given. */
export function startOrigin(
  t: TestContext,
  script: (peer: Peer) => Promise<void> | void,
  port = 0,
): Promise<Origin> {
  return startRawOrigin(
    t,
    (socket) => {
      // A connection that is cut ends its script; the story judges by what the other side saw.
      Promise.resolve(script(new Peer(socket))).catch(() => socket.destroy());
    },
    port,
  );
}

/** The same with a bare socket. */
export async function startRawOrigin(
  t: TestContext,
  onSocket: (socket: Socket) => void,
  port = 0,
): Promise<Origin> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    ++count;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    onSocket(socket);
  });
  const kill = (): Promise<void> => closeServer(server, sockets);
  t.after(kill);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connectionCount() {
      return count;
    },
    kill,
  };
}

function closeServer(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.resetAndDestroy();
  });
}

/** Answers every request with its target. */
export async function echoTargets(peer: Peer): Promise<void> {
  for (;;) {
    const { startLine } = await peer.takeMessage();
    const body = startLine.split(' ')[1] ?? '';
    peer.send(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  }
}

export function get(path: string, ...headers: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, 'host: test', ...headers, '', ''].join('\r\n');
}
