// What bench/load/idle_hold.cc does, over TLS: none of the connections resumes another's session.
//
//   node idle-tls-crowd.mjs PORT PATH
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { connect } from 'node:tls';

const [port, path] = process.argv.slice(2);
const request = `GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`;
const crowd = [];

/** Resolves when it has had its answer, all of which comes at once: it is short. */
async function join() {
  const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.write(request);
  await once(socket, 'data');
  socket.on('close', () => {
    console.error('an idle connection was closed');
    process.exit(1);
  });
  crowd.push(socket);
}

for await (const line of createInterface({ input: process.stdin })) {
  while (crowd.length < Number(line)) await join();
  console.log(line);
}
process.exit(0);
