// Attacks that users of a proxy read of, each with the answer that it gets here: by what a client sees and
// by what the origin is asked, since it is the origin that would be harmed.
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { toCluster, webBootstrap } from '../support/bootstraps.js';
import { startProxy } from '../support/start-proxy.js';

export const TYPE = 'type.googleapis.com/envoy.extensions';
export const FILTER = `${TYPE}.filters.http`;

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Of what has come of its body. */
  bodyBytes: number;
}

/** Answers with what `answer` says, and keeps what it was asked. */
export async function startOrigin(
  t: TestContext,
  answer: (asked: Asked) => { status?: number; headers?: Record<string, string>; body?: string },
): Promise<{ port: number; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const one = { path: request.url ?? '', headers: request.headers, bodyBytes: 0 };
    asked.push(one);
    request.on('data', (piece: Buffer) => (one.bodyBytes += piece.length));
    const { status = 200, headers = {}, body = 'fine' } = answer(one);
    request.on('end', () => {
      response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

export interface Setting {
  readonly filters?: readonly object[];
  readonly manager?: object;
  readonly origins: Readonly<Record<string, number>>;
  readonly routes?: readonly object[];
}

/** A proxy before those origins; what sends bytes to it. */
export async function startBefore(
  t: TestContext,
  { filters = [], manager, origins, routes }: Setting,
) {
  const web = webBootstrap(
    (routes ?? [toCluster('/', Object.keys(origins)[0] ?? '')]) as never,
    origins,
  ) as unknown as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: { http_filters: object[] } }[] }[] }[];
    };
  };
  const config = web.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config;
  assert.ok(config);
  Object.assign(config, manager);
  config.http_filters.unshift(...filters);
  const proxy = await startProxy(t, web);
  const { port } = new URL(await proxy.listenerUrl('web'));
  return (bytes: string | Buffer) => exchange(Number(port), bytes);
}

const ANSWER_TIMEOUT_MS = 10_000;

export interface Answer {
  /** 0: the connection ended without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** The first answer to those bytes, after which the connection is closed by us. */
export function exchange(port: number, bytes: string | Buffer): Promise<Answer> {
  const isHead = bytes.slice(0, 4).toString() === 'HEAD';
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    const finish = () => {
      socket.destroy();
      const [head = '', body = ''] = text.split(/\r\n\r\n([^]*)/);
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body });
    };
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(text.slice(0, end));
      const rest = isHead ? 0 : Number(length?.[1]);
      if (end > 0 && text.length >= end + 4 + rest) finish();
    });
    socket.on('close', finish).on('error', finish).setTimeout(ANSWER_TIMEOUT_MS, finish);
  });
}

export const get = (path: string, ...lines: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, 'host: good.test', ...lines, '', ''].join('\r\n');
