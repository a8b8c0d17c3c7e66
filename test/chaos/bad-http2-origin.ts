// An origin of HTTP/2 that answers some requests well, others never, late, in part, or with frames that
// mean nothing; and ends its connections as it likes.
import { createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { FRAME, answerOf, dataOf, frame, streamsIn } from './http2-frames.js';
import { listening } from './origins.js';
import { below, randomBytes, type Random } from './random.js';

const PREFACE_BYTES = 24;

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function answer(socket: Socket, stream: number, random: Random): void {
  if (socket.destroyed) return;
  const choice = below(random, 16);
  const ways: readonly (() => unknown)[] = [
    () => undefined,
    () => socket.resetAndDestroy(),
    () => socket.end(),
    () => socket.write(frame(FRAME.reset, 0, stream, number(below(random, 14)))),
    () => socket.write(frame(FRAME.goAway, 0, 0, Buffer.concat([number(0), number(0)]))),
    () => socket.write(frame(FRAME.goAway, 0, 0, Buffer.concat([number(stream), number(11)]))),
    () => socket.write(answerOf(stream, false)),
    () => socket.write(dataOf(stream, 5, true)),
    () => socket.write(Buffer.concat([answerOf(stream, true), dataOf(stream, 5, true)])),
    () =>
      socket.write(frame(below(random, 12), below(random, 256), stream, randomBytes(random, 20))),
    () => socket.write(randomBytes(random, 200)),
  ];
  const way = ways[choice];
  if (way) way();
  else socket.write(Buffer.concat([answerOf(stream, false), dataOf(stream, 5000, true)]));
}

export function startBadHttp2Origin(t: TestContext, random: Random): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => {
    if (below(random, 10) === 0) socket.resetAndDestroy();
    else socket.write(Buffer.concat([frame(FRAME.settings, 0, 0), frame(FRAME.settings, 1, 0)]));
    let isFirst = true;
    socket.on('data', (bytes: Buffer) => {
      const frames = isFirst ? bytes.subarray(PREFACE_BYTES) : bytes;
      isFirst = false;
      for (const stream of streamsIn(frames)) {
        const pause = below(random, 4) === 0 ? below(random, 200) : 0;
        if (pause === 0) answer(socket, stream, random);
        else setTimeout(() => answer(socket, stream, random), pause);
      }
    });
  });
  return listening(t, server);
}
