// @fastify/http-proxy as its users run it: undici underneath, keep-alive towards the origin.
import fastify from 'fastify';
import proxy from '@fastify/http-proxy';

const [listenPort, originPort] = process.argv.slice(2).map(Number);

const server = fastify({ logger: false, keepAliveTimeout: 3_600_000 });
// The package's own limit of 128 upstream connections would make 1,024 clients wait.
await server.register(proxy, {
  upstream: `http://127.0.0.1:${originPort}`,
  undici: { connections: 1024 },
});
await server.listen({ port: listenPort, host: '127.0.0.1' });
