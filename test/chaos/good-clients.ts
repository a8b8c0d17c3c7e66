// Clients that do nothing wrong, and take nothing wrong: each answer has to be the right one, in time.
import { once } from 'node:events';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { AUTHORITY } from '../integration/support/certificates.js';
import { bodyOf } from './origins.js';
import { below, pick, type Random } from './random.js';

/** Much more than any answer takes on a busy machine. */
export const LIMIT_MS = 20_000;

export interface Place {
  readonly port: number;
  readonly isSecure: boolean;
}

export const HOST = '127.0.0.1';
export const TRUST = { ca: AUTHORITY, servername: 'server.test' };
const SIZES = [0, 1, 100, 5000, 16_384, 70_000, 300_000];

export interface Exchange {
  /** Throws what was wrong with one exchange. */
  (random: Random): Promise<void>;
  /** Lets go of what is kept from one to the next. */
  end?: () => void;
}

export async function bodyFrom(incoming: Readable, isSlow: boolean): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) {
    chunks.push(chunk as Buffer);
    if (isSlow) await sleep(5);
  }
  return Buffer.concat(chunks);
}

export function expectBody(
  what: string,
  status: number | undefined,
  body: Buffer,
  expected: Buffer,
): void {
  if (status === 200 && body.equals(expected)) return;
  throw new Error(
    `${what}: ${status}, ${body.length} of ${expected.length} bytes: ${body.subarray(0, 200).toString()}`,
  );
}

export async function sendBody(sent: Writable, body: Buffer, random: Random): Promise<void> {
  const part = 2000 + below(random, 40_000);
  for (let at = 0; at < body.length; at += part) {
    sent.write(body.subarray(at, at + part));
    if (below(random, 4) === 0) await sleep(1);
  }
  sent.end();
}

export interface Wish {
  readonly method: string;
  readonly path: string;
  /** What is sent, if anything is, and what comes back. */
  readonly body: Buffer;
  readonly isUpload: boolean;
}

export function pickWish(random: Random, prefixes: readonly string[]): Wish {
  const [prefix, size] = [pick(random, prefixes), pick(random, SIZES)];
  const isUpload = below(random, 3) === 0;
  const path = isUpload
    ? `${prefix}/echo`
    : `${prefix}/${pick(random, ['size', 'chunks'])}/${size}`;
  return { method: isUpload ? 'POST' : 'GET', path, body: bodyOf(size), isUpload };
}

/** Where an exchange stood that failed: what the proxy's own log is searched for. */
function stateOf(sent: ClientRequest): string {
  const { reusedSocket, writableFinished, socket } = sent;
  const { localPort, remotePort, bytesRead, bytesWritten } = socket ?? {};
  return [
    `at ${new Date().toISOString()}, ${localPort} to ${remotePort}`,
    `its connection is ${reusedSocket ? 'kept' : 'new'}`,
    `${bytesWritten} bytes sent, ${writableFinished ? 'all' : 'not all'}, ${bytesRead} read`,
  ].join('; ');
}

/** Requests to any of these paths, on connections that are kept or not. */
export function webClient(
  { port, isSecure }: Place,
  prefixes: readonly string[],
  keepAlive: boolean,
): Exchange {
  const options = { keepAlive, maxSockets: 1, ...(isSecure && TRUST) };
  const agent = isSecure ? new SecureAgent(options) : new Agent(options);
  const send = isSecure ? secureRequest : request;
  const exchange: Exchange = async (random) => {
    const { method, path, body, isUpload } = pickWish(random, prefixes);
    const what = `${isSecure ? 'https' : 'http'} ${method} ${path} of ${body.length}`;
    const sent = send({ host: HOST, port, path, method, agent, timeout: LIMIT_MS });
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    // Also after the answer's head: until the exchange is over.
    const failed = new Promise<never>((_, reject) => sent.on('error', reject));
    if (isUpload && below(random, 2) === 0) sent.setHeader('content-length', body.length);
    const whole = async (): Promise<void> => {
      const isSent = isUpload ? sendBody(sent, body, random) : sent.end();
      const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
      const got = await bodyFrom(incoming, below(random, 8) === 0);
      expectBody(what, incoming.statusCode, got, body);
      await isSent;
    };
    try {
      await Promise.race([whole(), failed]);
    } catch (error) {
      throw new Error(`${what}: ${String(error)} (${stateOf(sent)})`, { cause: error });
    }
  };
  exchange.end = () => agent.destroy();
  return exchange;
}

const RAW = new WeakMap<Socket, Socket>();

export function open({ port, isSecure }: Place): Socket {
  const raw = connect({ host: HOST, port, allowHalfOpen: true });
  raw.on('error', () => undefined);
  const socket = isSecure ? connectSecurely({ socket: raw, ...TRUST }) : raw;
  RAW.set(socket, raw);
  socket.on('close', () => raw.destroy());
  return socket.on('error', () => undefined);
}

/** With a RST, also beneath TLS. */
export function reset(socket: Socket): void {
  RAW.get(socket)?.resetAndDestroy();
  socket.destroy();
}

const PROXY_HEADER = 'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n';

/** Bytes through a relay and back, with an end from either side. */
export function relayClient(place: Place): Exchange {
  return async (random) => {
    const [size, hasHeader] = [pick(random, SIZES), !place.isSecure && below(random, 2) === 0];
    const body = bodyOf(size);
    const socket = open(place);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const timer = setTimeout(() => socket.destroy(), LIMIT_MS);
    const isOver = once(socket, 'end');
    if (hasHeader) socket.write(PROXY_HEADER);
    socket.end(body);
    try {
      await isOver;
    } catch {
      // Judged by what has come.
    }
    clearTimeout(timer);
    socket.destroy();
    const what = `${place.isSecure ? 'TLS' : 'TCP'} relay${hasHeader ? ' behind PROXY' : ''}`;
    expectBody(what, 200, Buffer.concat(chunks), body);
  };
}
