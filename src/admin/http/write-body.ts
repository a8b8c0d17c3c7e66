// Answers that are longer than one text.
import type { ServerResponse } from 'node:http';
import type { Page } from '../../native.js';
import type { Stream } from './http.js';
import { work } from './turns.js';

const MAX_WAITING_BYTES = 16 * 1024 * 1024;

interface BodySink {
  /** These bytes of the body go out. */
  count(bytes: number): void;
  /** None is left. */
  end(): void;
}

/** Whoever does not read is sent away, not waited for. */
export function writeStream(response: ServerResponse, stream: Stream, sink: BodySink): void {
  const write = (piece: Buffer): void => {
    if (response.writableLength > MAX_WAITING_BYTES) {
      response.destroy();
      return;
    }
    sink.count(piece.length);
    response.write(piece);
  };
  // Whoever reads the head may count on what was asked for.
  const leave = stream.listen(write, () => sink.end());
  response.once('close', leave);
  response.flushHeaders();
  // Who has left before now does not leave once more.
  if (response.closed) leave();
}

/** One piece at a time, so that a long page never holds up the control thread. */
export function writePage(response: ServerResponse, page: Page, sink: BodySink): void {
  const step = (): boolean => {
    if (response.destroyed) return false;
    const piece = nextOf(page, response);
    if (piece === null) {
      sink.end();
      return false;
    }
    sink.count(piece.length);
    if (response.write(piece)) return true;
    response.once('drain', () => work(step));
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
