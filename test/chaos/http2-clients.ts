// Clients of HTTP/2: those that do nothing wrong, with several requests at once on a connection; those that
// leave in the midst of them; and those whose frames have flaws.
import { once } from 'node:events';
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  HOST,
  LIMIT_MS,
  TRUST,
  bodyFrom,
  expectBody,
  open,
  pickWish,
  sendBody,
  type Exchange,
  type Place,
} from './good-clients.js';
import { dataOf, frame, headersOf } from './http2-frames.js';
import { below, pick, randomBytes, type Random } from './random.js';

const MOST_STREAMS = 4;

function begin({ port, isSecure }: Place): ClientHttp2Session {
  const session = connect(
    `${isSecure ? 'https' : 'http'}://${HOST}:${port}`,
    isSecure ? TRUST : {},
  );
  // Its streams tell.
  return session.on('error', () => undefined);
}

async function ask(
  session: ClientHttp2Session,
  random: Random,
  prefixes: readonly string[],
): Promise<void> {
  const { method, path, body, isUpload } = pickWish(random, prefixes);
  const what = `HTTP/2 ${method} ${path} of ${body.length}`;
  const head = { ':method': method, ':path': path };
  const stream = session.request(head, { endStream: !isUpload });
  stream.setTimeout(LIMIT_MS, () => stream.destroy(new Error('no answer in time')));
  let isAnswered = false;
  stream.once('response', () => (isAnswered = true));
  const failed = new Promise<never>((_, reject) => {
    stream.on('error', reject).on('close', () => {
      if (!isAnswered) reject(new Error('it ended without an answer'));
    });
  });
  const whole = async (): Promise<void> => {
    const isSent = isUpload ? sendBody(stream, body, random) : undefined;
    const [headers] = (await once(stream, 'response')) as [
      IncomingHttpHeaders & { ':status'?: number },
    ];
    const got = await bodyFrom(stream, below(random, 8) === 0);
    expectBody(what, headers[':status'], got, body);
    await isSent;
  };
  try {
    await Promise.race([whole(), failed]);
  } catch (error) {
    const { localPort } = session.socket ?? {};
    const state = `at ${new Date().toISOString()}, from ${localPort}, reset code ${stream.rstCode}`;
    throw new Error(`${what}: ${String(error)} (${state})`, { cause: error });
  }
}

/** Requests to any of these paths, some at once, on a connection that is kept or not. */
export function multiplexedClient(
  place: Place,
  prefixes: readonly string[],
  keepAlive: boolean,
): Exchange {
  let kept: ClientHttp2Session | undefined;
  const exchange: Exchange = async (random) => {
    const session = kept && !kept.closed && !kept.destroyed ? kept : begin(place);
    if (keepAlive) kept = session;
    const count = 1 + below(random, MOST_STREAMS);
    try {
      await Promise.all(Array.from({ length: count }, () => ask(session, random, prefixes)));
    } finally {
      if (!keepAlive) session.close();
    }
  };
  exchange.end = () => kept?.destroy();
  return exchange;
}

const PATHS = [
  '/good/size/300000',
  '/good/mirrored/chunks/70000',
  '/secure/echo',
  '/bad2',
  '/none',
];

function startStream(session: ClientHttp2Session, random: Random): ClientHttp2Stream {
  const isUpload = below(random, 3) === 0;
  const method = isUpload ? 'POST' : 'GET';
  const head = { ':method': method, ':path': pick(random, PATHS), ':authority': 'a' };
  const stream = session.request(head, { endStream: !isUpload }).on('error', () => undefined);
  if (isUpload) stream.write(Buffer.alloc(below(random, 100_000)));
  if (below(random, 2) === 0) stream.resume();
  return stream;
}

/** Ends streams, or their connection, somewhere in the midst. */
export function leavingClient(places: readonly Place[]): Exchange {
  return async (random) => {
    const session = begin(pick(random, places));
    const streams = Array.from({ length: 1 + below(random, 6) }, () =>
      startStream(session, random),
    );
    await sleep(below(random, 40));
    for (const stream of streams) {
      if (below(random, 2) === 0) stream.close(below(random, constants.NGHTTP2_HTTP_1_1_REQUIRED));
      if (below(random, 3) === 0) await sleep(below(random, 10));
    }
    if (below(random, 2) === 0 && !session.destroyed) session.goaway();
    session.destroy();
  };
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

function someFrame(random: Random, stream: number): Buffer {
  const kind = below(random, 8);
  if (kind <= 2) return headersOf(stream, pick(random, PATHS), below(random, 2) === 0);
  if (kind === 3) return dataOf(stream, below(random, 20_000), below(random, 2) === 0);
  return frame(
    below(random, 12),
    below(random, 256),
    below(random, 3) === 0 ? 0 : stream,
    randomBytes(random, below(random, 40)),
  );
}

/** Frames in any order, some with flaws; what was begun as a block of headers may never end. */
export function framesClient(places: readonly Place[]): Exchange {
  return async (random) => {
    const socket = open(pick(random, places)).resume();
    const parts = [PREFACE, frame(4, 0, 0)];
    for (let left = 1 + below(random, 12); left > 0; left -= 1) {
      parts.push(someFrame(random, 1 + 2 * below(random, 4)));
    }
    const bytes = Buffer.concat(parts);
    for (let flaws = below(random, 3); flaws > 0; flaws -= 1) {
      bytes[PREFACE.length + below(random, bytes.length - PREFACE.length)] = below(random, 256);
    }
    for (let at = 0; at < bytes.length && !socket.destroyed;) {
      const count = 1 + below(random, 2000);
      socket.write(bytes.subarray(at, at + count));
      at += count;
      if (below(random, 4) === 0) await sleep(below(random, 10));
    }
    await sleep(below(random, 60));
    socket.destroy();
  };
}
