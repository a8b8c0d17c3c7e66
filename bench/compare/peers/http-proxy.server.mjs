// http-proxy as its users run it: keep-alive towards the origin.
import { Agent, createServer } from 'node:http';
import httpProxy from 'http-proxy';

const [listenPort, originPort] = process.argv.slice(2).map(Number);

const proxy = httpProxy.createProxyServer({
  target: { host: '127.0.0.1', port: originPort },
  agent: new Agent({ keepAlive: true }),
});
proxy.on('error', (error, _request, response) => {
  response.writeHead?.(502);
  response.end(error.message);
});
const server = createServer((request, response) => proxy.web(request, response));
// Idle clients stay, as they do with the other peers.
server.keepAliveTimeout = 3_600_000;
server.listen(listenPort, '127.0.0.1');
