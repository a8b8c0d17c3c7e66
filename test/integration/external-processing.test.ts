// A service that is told of requests and answers part by part, and says what becomes of each.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import {
  Server,
  ServerCredentials,
  status,
  type ServerDuplexStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { HTTP2, cluster, toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const TYPE = 'type.googleapis.com/envoy.extensions';
const PROCESS = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';

const asIs = (bytes: Buffer): Buffer => bytes;

/** A field of protobuf that holds bytes, a text or a message. */
function field(number: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  const size: number[] = [];
  for (let rest = bytes.length; ; rest >>>= 7) {
    size.push(rest < 128 ? rest : (rest & 127) | 128);
    if (rest < 128) break;
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...size]), bytes]);
}

/** The fields of a message, numbers aside. */
function read(message: Buffer): { readonly number: number; readonly bytes: Buffer }[] {
  const fields: { number: number; bytes: Buffer }[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++] ?? 0;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    if ((tag & 7) === 0) varint();
    else {
      const size = varint();
      fields.push({ number: tag >>> 3, bytes: message.subarray(at, at + size) });
      at += size;
    }
  }
  return fields;
}

/** The numbers of ProcessingRequest; its answers' are one less. */
const PART = { 2: 'request', 3: 'response', 4: 'request body', 5: 'response body' } as const;
type Part = (typeof PART)[keyof typeof PART];

interface Told {
  readonly part: Part;
  readonly body: Buffer;
  /** The part as an answer has it, with a CommonResponse. */
  answer(common?: Buffer): Buffer;
}

function toldBy(message: Buffer): Told {
  const [first] = read(message);
  const number = (first?.number ?? 2) as keyof typeof PART;
  return {
    part: PART[number],
    body:
      read(first?.bytes ?? Buffer.alloc(0)).find((one) => one.number === 1)?.bytes ??
      Buffer.alloc(0),
    answer: (common) => field(number - 1, common ? field(1, common) : ''),
  };
}

const setHeader = (name: string, value: string): Buffer =>
  field(2, field(1, field(1, Buffer.concat([field(1, name), field(3, value)]))));
const setBody = (body: string): Buffer => field(3, field(1, body));
const atOnce = (code: number, body: string): Buffer =>
  field(
    7,
    Buffer.concat([field(1, Buffer.from([8, (code & 127) | 128, code >>> 7])), field(3, body)]),
  );

type Stream = ServerDuplexStream<Buffer, Buffer>;

/** A processor; what it was told of. */
async function serve(
  t: TestContext,
  onTold: (told: Told, stream: Stream, server: Server) => void,
): Promise<{ port: number; told: Part[] }> {
  const server = new Server();
  const told: Part[] = [];
  const handle = (stream: Stream): void => {
    stream.on('data', (message: Buffer) => {
      const one = toldBy(message);
      told.push(one.part);
      onTold(one, stream, server);
    });
    stream.on('end', () => stream.end());
    stream.on('error', () => undefined);
  };
  server.register(PROCESS, handle, asIs, asIs, 'bidi');
  t.after(() => server.forceShutdown());
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  return { port, told };
}

/** An origin that answers with what it was sent, in pieces. */
async function startOrigin(t: TestContext): Promise<number> {
  const origin = createServer((request, response) => {
    const body: Buffer[] = [];
    request.on('data', (piece: Buffer) => body.push(piece));
    request.on('end', () => {
      response.setHeader('x-user', String(request.headers['x-user']));
      for (const piece of body) response.write(piece);
      response.end('.');
    });
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    origin.close();
    origin.closeAllConnections();
  });
  return (origin.address() as AddressInfo).port;
}

async function startWith(
  t: TestContext,
  service: number,
  fields: object,
  grpc?: object,
  rest: object = {},
) {
  const web = webBootstrap([toCluster('/', 'origin') as never]) as unknown as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: { http_filters: object[] } }[] }[] }[];
      clusters: object[];
    };
  };
  web.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config.http_filters.unshift(
    {
      name: 'processor',
      typed_config: {
        '@type': `${TYPE}.filters.http.ext_proc.v3.ExternalProcessor`,
        grpc_service: grpc ?? { envoy_grpc: { cluster_name: 'service' } },
        message_timeout: '10s',
        ...fields,
      },
    },
  );
  web.static_resources.clusters = [
    cluster('origin', await startOrigin(t)),
    {
      ...cluster('service', service),
      ...HTTP2,
    },
  ];
  const proxy = await startProxy(t, { ...web, ...rest });
  const stat = async (name: string): Promise<number> => {
    const page = await (await fetch(`${proxy.adminUrl}/stats?filter=${name}`)).text();
    return Number(/: (\d+)/.exec(page)?.[1] ?? -1);
  };
  return { url: await proxy.listenerUrl('web'), adminUrl: proxy.adminUrl, stat };
}

test('a processor changes heads and streamed bodies both ways', async (t) => {
  const { port, told } = await serve(t, (one, stream) => {
    if (one.part === 'request') stream.write(one.answer(setHeader('x-user', 'ann')));
    else if (one.part === 'response') stream.write(one.answer(setHeader('x-seen', 'yes')));
    else if (one.body.length === 0) stream.write(one.answer());
    else stream.write(one.answer(setBody(one.body.toString().toUpperCase())));
  });
  const modes = { request_body_mode: 'STREAMED', response_body_mode: 'STREAMED' };
  const { url, stat } = await startWith(t, port, { processing_mode: modes });
  const text = 'some words '.repeat(20_000);
  const answer = await fetch(url, { method: 'POST', body: text });
  assert.equal(answer.headers.get('x-user'), 'ann');
  assert.equal(answer.headers.get('x-seen'), 'yes');
  assert.equal(await answer.text(), `${text.toUpperCase()}.`);
  assert.deepEqual(told.slice(0, 1), ['request']);
  assert.ok(told.includes('response body'));
  assert.equal(await stat('ext_proc.streams_started'), 1);
  assert.equal(await stat('ext_proc.stream_msgs_sent'), told.length);
});

test('a processor answers by itself, takes too long, or dies while an answer goes on', async (t) => {
  const { port } = await serve(t, (one, stream) => {
    const said = one.body.toString();
    if (said.includes('/at-once')) stream.write(atOnce(403, 'no way'));
    else if (said.includes('/slow')) return;
    else if (one.part === 'response body') {
      stream.emit('error', { code: status.INTERNAL, details: 'gone' } as ServiceError);
    } else stream.write(one.answer());
  });
  const modes = { response_header_mode: 'SKIP', response_body_mode: 'STREAMED' };
  const { url, stat } = await startWith(t, port, {
    processing_mode: modes,
    message_timeout: '0.3s',
  });
  const refused = await fetch(`${url}/at-once`);
  assert.equal(refused.status, 403);
  assert.equal(await refused.text(), 'no way');
  assert.equal((await fetch(`${url}/slow`)).status, 504);
  await assert.rejects(async () => (await fetch(`${url}/dies`)).text());
  assert.equal(await stat('ext_proc.message_timeouts'), 1);
  assert.equal(await stat('ext_proc.streams_failed'), 1);
});

test('a processor that is gone is an error, or nobody is told', async (t) => {
  const { port } = await serve(t, (_, stream, server) => {
    server.forceShutdown();
    stream.end();
  });
  const { url } = await startWith(t, port, {});
  assert.equal((await fetch(url)).status, 500);
  const { url: lenient, stat } = await startWith(t, port, { failure_mode_allow: true });
  assert.equal(await (await fetch(lenient)).text(), '.');
  assert.equal(await stat('ext_proc.failure_mode_allowed'), 1);
});

test('a processor is reached without a cluster of the configuration, and no page shows one', async (t) => {
  const { port } = await serve(t, (one, stream) => {
    stream.write(one.answer(one.part === 'request' ? setHeader('x-user', 'bob') : undefined));
  });
  const google = { target_uri: `127.0.0.1:${port}`, stat_prefix: 'proc' };
  const { url, adminUrl, stat } = await startWith(t, port, {}, { google_grpc: google });
  const answer = await fetch(url);
  assert.equal(answer.headers.get('x-user'), 'bob');
  assert.equal(await stat('grpc.proc.streams_total'), 1);
  assert.equal(await stat('grpc.proc.google_grpc_client_creation'), 1);
  for (const page of ['clusters', 'config_dump?include_eds', 'stats', 'certs']) {
    assert.doesNotMatch(await (await fetch(`${adminUrl}/${page}`)).text(), /google_grpc [0-9]/);
  }
  assert.equal(await stat('cluster_manager.active_clusters'), 2);
});

/** A name server that knows 127.0.0.1 by any name, and takes so long to say so. */
async function startNameServer(t: TestContext, delayMs: number): Promise<number> {
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const end = question.indexOf(0, 12) + 5;
    const isIpv4 = question.readUInt16BE(end - 4) === 1;
    const record = isIpv4 ? 'c00c000100010000000500047f000001' : '';
    const answer = Buffer.concat([question.subarray(0, end), Buffer.from(record, 'hex')]);
    answer.writeUInt16BE(0x8180, 2);
    answer.writeUInt16BE(isIpv4 ? 1 : 0, 6);
    answer.writeUInt32BE(0, 8);
    setTimeout(() => socket.send(answer, from.port, from.address), delayMs);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.after(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return socket.address().port;
}

test('the first request waits until the name of its processor is known', async (t) => {
  const { port } = await serve(t, (one, stream) => {
    stream.write(one.answer(one.part === 'request' ? setHeader('x-user', 'bob') : undefined));
  });
  const google = { target_uri: `processor.test:${port}`, stat_prefix: 'proc' };
  const names = { address: '127.0.0.1', port_value: await startNameServer(t, 700) };
  const { url, stat } = await startWith(
    t,
    port,
    {},
    { google_grpc: google },
    {
      dns_resolution_config: { resolvers: [{ socket_address: names }] },
    },
  );
  const answers = await Promise.all([fetch(url), fetch(url)]);
  assert.deepEqual(
    answers.map(({ headers }) => headers.get('x-user')),
    ['bob', 'bob'],
  );
  assert.equal(await stat('ext_proc.streams_failed'), 0);
});

test('a processor of HTTP is asked about heads, and errors of its are told apart', async (t) => {
  const asked: unknown[] = [];
  const service = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      asked.push([request.url, Object.keys(JSON.parse(body) as object)]);
      if (asked.length > 1) return response.writeHead(404).end();
      const header = { key: 'x-user', raw_value: Buffer.from('ann').toString('base64') };
      const mutation = { setHeaders: [{ header }] };
      return response.end(
        JSON.stringify({ requestHeaders: { response: { headerMutation: mutation } } }),
      );
    });
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    service.close();
    service.closeAllConnections();
  });
  const { port } = service.address() as AddressInfo;
  const web = webBootstrap([toCluster('/', 'origin') as never]) as unknown as {
    static_resources: {
      listeners: { filter_chains: { filters: { typed_config: { http_filters: object[] } }[] }[] }[];
      clusters: object[];
    };
  };
  web.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config.http_filters.unshift(
    {
      name: 'processor',
      typed_config: {
        '@type': `${TYPE}.filters.http.ext_proc.v3.ExternalProcessor`,
        http_service: {
          http_service: {
            http_uri: { uri: 'http://service.test/process', cluster: 'service', timeout: '5s' },
          },
        },
        processing_mode: { response_header_mode: 'SKIP' },
        message_timeout: '10s',
      },
    },
  );
  web.static_resources.clusters = [
    cluster('origin', await startOrigin(t)),
    cluster('service', port),
  ];
  const proxy = await startProxy(t, web);
  const url = await proxy.listenerUrl('web');
  const changed = await fetch(url);
  assert.equal(changed.headers.get('x-user'), 'ann');
  await changed.text();
  assert.equal((await fetch(url)).status, 500);
  assert.deepEqual(asked[0], [
    '/process',
    ['request_headers', 'metadata_context', 'protocol_config'],
  ]);
  const page = await fetch(`${proxy.adminUrl}/stats?filter=http_not_ok_resp_received`);
  assert.match(await page.text(), /: 1\n/);
});
