// Pages that somebody wants to see again and again, pushed over one WebSocket: whoever asks says once
// which and how often, and a page that has not changed is not sent again.
//
//   asked:  {"id": 1, "target": "/stats?format=json", "everyMs": 1000}, without a target: no more of 1
//   pushed: "1 200\n" and the page; "1" where it is as it was
import { Buffer } from 'node:buffer';
import { startTimeout } from '../../base/timers.js';
import type { AdminReply } from '../http/http.js';
import { work } from '../http/turns.js';

const MAX_WATCHES = 16;
const MIN_EVERY_MS = 250;
/** The share of the time that a page may take: a tenth. */
const REST_PER_WORK = 10;
const MAX_PAGE_BYTES = 32 * 1024 * 1024;
/** Of longer ones nobody remembers what they were. */
const MAX_KEPT_BYTES = 256 * 1024;

export interface LiveReader {
  /** False: it has not caught up; `caughtUp` is called once it has. */
  send(message: Buffer): boolean;
}

interface Watch {
  readonly id: number;
  readonly target: string;
  readonly everyMs: number;
  before: Buffer | undefined;
  timer: NodeJS.Timeout | undefined;
  isDue: boolean;
}

interface Wish {
  readonly id: number;
  readonly target?: string;
  readonly everyMs?: number;
}

export class LiveFeed {
  readonly #look: (target: string) => AdminReply;
  readonly #reader: LiveReader;
  readonly #watches = new Map<number, Watch>();
  #isReaderSlow = false;

  /** `look`: what a page is now. */
  constructor(look: (target: string) => AdminReply, reader: LiveReader) {
    this.#look = look;
    this.#reader = reader;
  }

  /** Why it is no wish; undefined of one. */
  wish(text: string): string | undefined {
    const wish = parseWish(text);
    if (!wish) return 'expected {"id": 1, "target": "/stats", "everyMs": 1000}';
    this.#forget(wish.id);
    const { id, target, everyMs = 0 } = wish;
    if (target === undefined) return undefined;
    if (this.#watches.size === MAX_WATCHES) return `more than ${MAX_WATCHES} pages`;
    const watch: Watch = {
      ...{ id, target, everyMs: Math.max(MIN_EVERY_MS, everyMs) },
      ...{ before: undefined, timer: undefined, isDue: false },
    };
    this.#watches.set(id, watch);
    this.#turn(watch);
    return undefined;
  }

  /** Nothing waits for the reader any more. */
  caughtUp(): void {
    this.#isReaderSlow = false;
    for (const watch of this.#watches.values()) if (watch.isDue) this.#turn(watch);
  }

  close(): void {
    for (const id of [...this.#watches.keys()]) this.#forget(id);
  }

  #forget(id: number): void {
    clearTimeout(this.#watches.get(id)?.timer);
    this.#watches.delete(id);
  }

  #isWanted(watch: Watch): boolean {
    return this.#watches.get(watch.id) === watch;
  }

  #turn(watch: Watch): void {
    watch.isDue = this.#isReaderSlow;
    if (watch.isDue) return;
    const beganMs = performance.now();
    const { status = 200, body } = this.#look(watch.target);
    const tell = (page: Buffer): void => this.#tell(watch, status, page, beganMs);
    if (typeof body === 'string') {
      tell(Buffer.from(body));
      return;
    }
    if ('listen' in body) {
      this.#tell(watch, 400, Buffer.from('this answer has no end\n'), beganMs);
      return;
    }
    const pieces: Buffer[] = [];
    let bytes = 0;
    work(() => {
      if (!this.#isWanted(watch)) return false;
      const piece = body.next();
      if (piece && (bytes += piece.length) <= MAX_PAGE_BYTES) {
        pieces.push(piece);
        return true;
      }
      if (piece) this.#tell(watch, 413, Buffer.from('the page is too long\n'), beganMs);
      else tell(Buffer.concat(pieces));
      return false;
    });
  }

  #tell(watch: Watch, status: number, page: Buffer, beganMs: number): void {
    if (!this.#isWanted(watch)) return;
    const isSame = watch.before?.equals(page) ?? false;
    watch.before = page.length <= MAX_KEPT_BYTES ? page : undefined;
    const head = isSame ? `${watch.id}` : `${watch.id} ${status}\n`;
    const message = isSame ? Buffer.from(head) : Buffer.concat([Buffer.from(head), page]);
    const restMs = (performance.now() - beganMs) * REST_PER_WORK;
    watch.timer = startTimeout(() => this.#turn(watch), Math.max(watch.everyMs, restMs));
    this.#isReaderSlow = !this.#reader.send(message);
  }
}

function parseWish(text: string): Wish | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, target, everyMs } = value as Partial<Record<keyof Wish, unknown>>;
  const isWish =
    typeof id === 'number' &&
    (target === undefined || typeof target === 'string') &&
    (everyMs === undefined || typeof everyMs === 'number');
  return isWish
    ? { id, ...(target !== undefined && { target }), ...(everyMs !== undefined && { everyMs }) }
    : undefined;
}
