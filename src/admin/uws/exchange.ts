// A request to the admin server and its answer, by uWebSockets.js. A handler that threw, or that neither
// answers nor wants to know of an abort, would end the process; so would nothing else here.
//
// What ends in a turn that Node calls immediate, on a connection that is then closed, leaks 500 bytes
// of uWebSockets.js': later than its own callback an answer ends in a timer.
import { guarded } from '../../base/bugs.js';
import { startTimeout } from '../../base/timers.js';
import type { Page } from '../../native-stats.js';
import { Answer } from '../http/answer.js';
import { Waiting } from '../http/backlog.js';
import {
  ADMIN_REQUEST,
  MAX_BODY_BYTES,
  type AdminRequest,
  type AdminService,
  type Stream,
} from '../http/http.js';
import { findHeadFault } from '../http/request-head.js';
import { isIdle, work } from '../http/turns.js';
import type { Connection } from './connection.js';
import { requestOf, type UwsHead } from './head.js';
import type { UwsResponse } from './uws.js';

/** Of a page whose pieces are small: each write is a call of the system. */
const MIN_WRITE_BYTES = 32 * 1024;

/** What an exchange wants of its connection. */
export interface ExchangeHost {
  readonly connection: Connection;
  /** A stream goes on without uWebSockets.js, which sends no head before there is a body. */
  handOver(answer: Answer, stream: Stream): void;
  /** The connection is to be closed, which uWebSockets.js does not know. */
  closeSoon(): void;
  /** Nothing of it is left. */
  over(): void;
}

export class Exchange {
  readonly #service: AdminService;
  readonly #response: UwsResponse;
  readonly #head: UwsHead;
  readonly #host: ExchangeHost;
  readonly #beganMs = Date.now();
  readonly #waiting = new Waiting();
  #chunks: Buffer[] = [];
  #bodyBytes = 0;
  #answer: Answer | undefined;
  #isPaused = false;
  /** Whoever is called by uWebSockets.js itself. */
  #isInCallback = true;
  #isOver = false;
  /** What to do once the reader has caught up. */
  #whenWritable: (() => void) | undefined;

  constructor(service: AdminService, response: UwsResponse, head: UwsHead, host: ExchangeHost) {
    this.#service = service;
    this.#response = response;
    this.#head = head;
    this.#host = host;
  }

  /** In the handler of the request. */
  begin(): void {
    const fault = findHeadFault(this.#head);
    if (fault !== undefined) {
      this.#refuse(fault);
      return;
    }
    this.#response.onWritable(() => {
      this.#call(() => {
        this.#waiting.set(0);
        const next = this.#whenWritable;
        this.#whenWritable = undefined;
        next?.();
      });
      return true;
    });
    this.#response.onData((chunk, isLast) => {
      this.#call(() => {
        this.#read(chunk);
        if (isLast) this.#replyInTime();
      });
    });
    this.#isInCallback = false;
  }

  /** Nothing may be written any more. */
  aborted(): void {
    if (this.#isOver) return;
    if (this.#answer) this.#answer.cut();
    else this.#service.abandoned(this.#request);
    this.#over();
  }

  /** For what uWebSockets.js calls. */
  #call(act: () => void): void {
    this.#isInCallback = true;
    guarded(ADMIN_REQUEST, act, () => this.#giveUp())();
    this.#isInCallback = false;
  }

  get #request(): AdminRequest {
    const body = Buffer.concat(this.#chunks).toString();
    return requestOf(this.#head, body, this.#beganMs, this.#host.connection.describe());
  }

  #read(chunk: ArrayBuffer): void {
    // Now: an abort comes when the descriptor is closed.
    this.#host.connection.tellRead();
    this.#bodyBytes += chunk.byteLength;
    // The memory is lent for this call only.
    if (this.#bodyBytes > MAX_BODY_BYTES) this.#chunks = [];
    else if (chunk.byteLength > 0) this.#chunks.push(Buffer.from(new Uint8Array(chunk)));
  }

  /** Whoever sends many requests at once keeps nobody waiting. */
  #replyInTime(): void {
    if (this.#host.connection.allowance.take()) {
      this.#reply();
      return;
    }
    this.#pause();
    work(() => {
      if (!this.#isOver)
        guarded(
          ADMIN_REQUEST,
          () => this.#reply(),
          () => this.#giveUp(),
        )();
      return false;
    });
  }

  #reply(): void {
    const request = this.#request;
    this.#chunks = [];
    const isTooLong = this.#bodyBytes > MAX_BODY_BYTES;
    const reply = isTooLong ? this.#service.refuse(request, 413) : this.#service.answer(request);
    const { body } = reply;
    const goesOn = typeof body !== 'string' && 'listen' in body;
    // What goes on without uWebSockets.js cannot come back to it; without chunks its end says so.
    const mustClose = goesOn && body.isChunked ? true : undefined;
    const answer = new Answer(this.#service, request, reply, mustClose);
    this.#answer = answer;
    if (answer.closes) this.#host.connection.ends();
    if (!answer.hasBody) this.#writeHeadOnly(answer);
    else if (typeof body === 'string') this.#writeText(answer, body);
    else if (goesOn) this.#handOver(answer, body);
    else this.#writePage(answer, body);
  }

  #refuse(status: number): void {
    this.#host.connection.tellRead();
    const request = this.#request;
    const reply = this.#service.refuse(request, status);
    const answer = new Answer(this.#service, request, reply, true);
    this.#answer = answer;
    this.#host.connection.ends();
    this.#writeText(answer, String(reply.body));
  }

  /** It frames by itself, and says by itself when it was asked to, and when it closes without being asked. */
  #writeHead(answer: Answer, closesByItself: boolean): void {
    this.#response.writeStatus(`${answer.status} ${answer.reason}`);
    for (const [name, value] of answer.headers) {
      if (name === 'date' || name === 'content-length' || name === 'transfer-encoding') continue;
      if (name === 'connection' && closesByItself && !this.#head.saysClose) continue;
      this.#response.writeHeader(name, value);
    }
  }

  /** With a framing of ours it would not close. */
  #writeHeadOnly(answer: Answer): void {
    answer.finish();
    this.#ending(() => {
      this.#writeHead(answer, answer.closes);
      if (answer.closes) {
        this.#response.endWithoutBody(0, true);
        return;
      }
      if (answer.framing === 'chunked') this.#response.writeHeader('transfer-encoding', 'chunked');
      this.#response.endWithoutBody();
    });
  }

  #writeText(answer: Answer, text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > 0) answer.count(bytes);
    answer.finish();
    if (answer.framing !== 'chunked' || bytes === 0) {
      this.#ending(() => {
        this.#writeHead(answer, answer.closes);
        this.#response.end(text, answer.closes);
      });
      return;
    }
    let isTaken = true;
    this.#response.cork(() => {
      this.#writeHead(answer, false);
      isTaken = this.#response.write(text);
    });
    if (isTaken) this.#end(answer);
    else this.#await(bytes, () => this.#end(answer));
  }

  /** What is short is written at once where nothing else is under way, what is long in turns with others. */
  #writePage(answer: Answer, page: Page): void {
    this.#response.cork(() => this.#writeHead(answer, false));
    const end = (): void => {
      answer.finish();
      this.#end(answer);
    };
    let pieces: Buffer[] = [];
    let bytes = 0;
    const step = (): boolean => {
      if (this.#isOver) return false;
      const piece = this.#nextOf(page);
      if (piece) {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes < MIN_WRITE_BYTES) return true;
      }
      const next = piece ? () => work(step) : end;
      const isTaken = bytes === 0 || this.#writePieces(answer, pieces, bytes, next);
      pieces = [];
      bytes = 0;
      if (isTaken && !piece) end();
      return isTaken && piece !== null;
    };
    if (this.#isInCallback && isIdle() && !(step() && step())) return;
    if (!this.#isPaused) this.#pause();
    work(step);
  }

  /** False: the reader is slow, and `next` follows once it has caught up. */
  #writePieces(
    answer: Answer,
    pieces: readonly Buffer[],
    bytes: number,
    next: () => void,
  ): boolean {
    answer.count(bytes);
    let isTaken = true;
    this.#response.cork(() => (isTaken = this.#response.write(Buffer.concat(pieces))));
    if (!isTaken) this.#await(bytes, next);
    return isTaken;
  }

  #nextOf(page: Page): Buffer | null {
    try {
      return page.next();
    } catch (thrown) {
      this.#giveUp();
      throw thrown;
    }
  }

  #handOver(answer: Answer, stream: Stream): void {
    // Its end here is no abort.
    this.#isOver = true;
    this.#host.handOver(answer, stream);
    this.#response.close();
  }

  #await(bytes: number, next: () => void): void {
    this.#pause();
    this.#whenWritable = next;
    if (!this.#waiting.set(bytes)) this.#giveUp();
  }

  /** The next request is not looked at: uWebSockets.js would close the connection. */
  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#response.pause();
  }

  #resume(): void {
    if (this.#isPaused) this.#response.resume();
    this.#isPaused = false;
  }

  #end(answer: Answer): void {
    this.#ending(() => {
      this.#response.end();
      if (answer.closes && !this.#head.saysClose) this.#host.closeSoon();
    });
  }

  /** The last that is written. */
  #ending(write: () => void): void {
    const end = (): void => {
      if (this.#isOver) return;
      this.#resume();
      this.#response.cork(write);
      this.#over();
    };
    if (this.#isInCallback) end();
    else startTimeout(end, 0);
  }

  /** There is no getting on with it. */
  #giveUp(): void {
    if (this.#isOver) return;
    if (this.#isInCallback) this.#response.close();
    else startTimeout(() => !this.#isOver && this.#response.close(), 0);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting.set(0);
    this.#chunks = [];
    this.#whenWritable = undefined;
    this.#host.over();
    const then = this.#answer?.reply.then;
    // It may be the end of the server.
    if (then) startTimeout(then, 0);
  }
}
