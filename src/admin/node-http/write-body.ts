// Answers that are longer than one text, by Node.
import type { ServerResponse } from 'node:http';
import type { Page } from '../../native-stats.js';
import { Waiting } from '../http/backlog.js';
import type { Stream } from '../http/http.js';
import { work } from '../http/turns.js';

const MAX_STREAM_BYTES = 16 * 1024 * 1024;

interface BodySink {
  /** These bytes of the body go out. */
  count(bytes: number): void;
  /** None is left. */
  end(): void;
}

/** Whoever does not read is sent away, not waited for. */
export function writeStream(response: ServerResponse, stream: Stream, sink: BodySink): void {
  const waiting = new Waiting();
  const write = (piece: Buffer): void => {
    sink.count(piece.length);
    response.write(piece, () => waiting.set(response.writableLength));
    const bytes = response.writableLength;
    if (bytes > MAX_STREAM_BYTES || !waiting.set(bytes)) response.destroy();
  };
  // Whoever reads the head may count on what was asked for.
  const leave = stream.listen(write, () => sink.end());
  response.once('close', () => {
    waiting.set(0);
    leave();
  });
  response.flushHeaders();
  // Who has left before now does not leave once more.
  if (response.closed) leave();
}

/** One piece at a time, so that a long page never holds up the control thread. */
export function writePage(response: ServerResponse, page: Page, sink: BodySink): void {
  const waiting = new Waiting();
  response.once('close', () => waiting.set(0));
  const step = (): boolean => {
    if (response.destroyed) return false;
    const piece = nextOf(page, response);
    if (piece === null) {
      sink.end();
      return false;
    }
    sink.count(piece.length);
    if (response.write(piece)) return true;
    response.once('drain', () => {
      waiting.set(0);
      work(step);
    });
    if (!waiting.set(piece.length)) response.destroy();
    return false;
  };
  work(step);
}

/** Whoever waits for what cannot be made learns of it by the end of the connection. */
function nextOf(page: Page, response: ServerResponse): Buffer | null {
  try {
    return page.next();
  } catch (thrown) {
    response.destroy();
    throw thrown;
  }
}
