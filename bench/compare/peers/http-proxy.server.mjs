// http-proxy as its users run it: keep-alive towards the origin.
import { Agent } from 'node:http';
import httpProxy from 'http-proxy';

const [listenPort, originPort] = process.argv.slice(2).map(Number);

const server = httpProxy.createProxyServer({
  target: { host: '127.0.0.1', port: originPort },
  agent: new Agent({ keepAlive: true }),
});
server.on('error', (error, _request, response) => {
  response.writeHead?.(502);
  response.end(error.message);
});
server.listen(listenPort, '127.0.0.1');
