// An answer that goes on: its head must be there before its body, and uWebSockets.js writes no head before
// there is a body. So the connection goes on by itself.
import type { Socket } from 'node:net';
import { guarded } from '../../base/bugs.js';
import type { Answer } from '../http/answer.js';
import { Waiting } from '../http/backlog.js';
import { ADMIN_REQUEST, type Stream } from '../http/http.js';

/** What a burst may leave waiting. */
const MAX_STREAM_BYTES = 16 * 1024 * 1024;

/** `onClosed`: the connection is gone. What comes back ends it. */
export function writeRawStream(
  socket: Socket,
  answer: Answer,
  stream: Stream,
  onClosed: () => void,
): () => void {
  const waiting = new Waiting();
  const isChunked = answer.framing === 'chunked';
  const write = (piece: Buffer): void => {
    if (piece.length === 0 || socket.destroyed) return;
    answer.count(piece.length);
    if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`);
    socket.write(piece);
    if (isChunked) socket.write('\r\n', () => waiting.set(socket.writableLength));
    const bytes = socket.writableLength;
    if (bytes > MAX_STREAM_BYTES || !waiting.set(bytes)) socket.destroy();
  };
  const end = (): void => {
    answer.finish();
    socket.end(isChunked ? '0\r\n\r\n' : '');
  };
  socket.on('error', () => undefined);
  // Whoever reads the head may count on what was asked for: it leaves afterwards.
  socket.cork();
  socket.write(answer.head);
  const leave = stream.listen(write, end);
  socket.uncork();
  const closed = (): void => {
    waiting.set(0);
    leave();
    answer.cut();
    onClosed();
  };
  socket.once('close', guarded(ADMIN_REQUEST, closed));
  // Nothing is expected of the client but its end.
  socket.resume();
  return () => void socket.destroy();
}
