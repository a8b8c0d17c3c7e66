// The gRPC service that filters ask: it lets everything go on. Only what the proxies spend is measured.
// Where proxies reset streams that they are done with (ext_proc), Node takes many of them for an attack and
// ends the connection: some requests fail then, of whichever proxy.
import { createServer } from 'node:http2';

const HEAD_BYTES = 5;

/** What each service answers to the first message, the second and so on; the last goes for the rest. */
const ANSWERS = {
  'envoy.service.auth.v3.Authorization': [Buffer.alloc(0)],
  // overall_code: OK
  'envoy.service.ratelimit.v3.RateLimitService': [Buffer.from([0x08, 1])],
  // request_headers {}, response_headers {}
  'envoy.service.ext_proc.v3.ExternalProcessor': [Buffer.from([0x0a, 0]), Buffer.from([0x12, 0])],
};

/** @returns {Promise<{port: number, stop: () => void}>} */
export function startService() {
  const server = createServer();
  const sessions = new Set();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => {});
  });
  server.on('stream', (stream, headers) => {
    const service = String(headers[':path']).split('/')[1] ?? '';
    answer(stream, ANSWERS[service] ?? [Buffer.alloc(0)]);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const stop = () => {
        for (const session of sessions) session.destroy();
        server.close();
      };
      resolve({ port: server.address().port, stop });
    });
  });
}

function answer(stream, answers) {
  let rest = Buffer.alloc(0);
  let count = 0;
  stream.on('error', () => {});
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.on('data', (data) => {
    rest = rest.length > 0 ? Buffer.concat([rest, data]) : data;
    while (rest.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + rest.readUInt32BE(1);
      if (rest.length < end) return;
      rest = rest.subarray(end);
      const message = answers[Math.min(count++, answers.length - 1)];
      const head = Buffer.alloc(HEAD_BYTES);
      head.writeUInt32BE(message.length, 1);
      stream.write(Buffer.concat([head, message]));
    }
  });
  stream.on('end', () => stream.end());
}
