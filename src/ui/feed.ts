// Keeps what the page shows up to date: the server pushes it over a WebSocket where it has one, and is
// asked for it again and again where it has not. Neither goes on while nobody looks.
import { askText } from './admin.js';
import { poll } from './poller.js';

/** After the loss of a WebSocket: the server may just be followed by another. */
const RETRY_MS = 1000;

export interface Watch {
  readonly everyMs: number;
  /** What is asked for: "stats?format=json"; undefined while nothing is. */
  target(): string | undefined;
  show(page: string): void;
}

export class Feed {
  readonly #watches: readonly Watch[];
  readonly #failed: (error: unknown) => void;
  readonly #went: () => void;
  /** By watch: the page as it was pushed last. */
  readonly #pages = new Map<number, string>();
  #socket: WebSocket | undefined;
  #stopPolling: (() => void)[] = [];

  /** `went`: something was shown. */
  constructor(watches: readonly Watch[], went: () => void, failed: (error: unknown) => void) {
    this.#watches = watches;
    this.#went = went;
    this.#failed = failed;
  }

  start(): void {
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#socket?.close();
      else this.#connect();
    });
    this.#connect();
  }

  /** Its target is another one now. */
  async refresh(watch: Watch): Promise<void> {
    const id = this.#watches.indexOf(watch);
    if (this.#isPushed) this.#wish(id, watch);
    else await this.#ask(watch);
  }

  get #isPushed(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  #connect(): void {
    if (this.#socket) return;
    const url = new URL('ui/live', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = new WebSocket(url);
    let wasOpen = false;
    this.#socket = socket;
    socket.addEventListener('open', () => {
      wasOpen = true;
      this.#poll(false);
      document.documentElement.dataset.feed = 'pushed';
      for (const [id, watch] of this.#watches.entries()) this.#wish(id, watch);
    });
    socket.addEventListener('message', ({ data }) => this.#take(String(data)));
    socket.addEventListener('close', () => {
      this.#socket = undefined;
      if (document.hidden) return;
      this.#poll(true);
      if (wasOpen) setTimeout(() => this.#connect(), RETRY_MS);
    });
  }

  #wish(id: number, watch: Watch): void {
    const target = watch.target();
    const wish =
      target === undefined ? { id } : { id, target: `/${target}`, everyMs: watch.everyMs };
    this.#pages.delete(id);
    this.#socket?.send(JSON.stringify(wish));
  }

  /** "1 200\n" and a page, or "1" where it is as it was. */
  #take(message: string): void {
    const end = message.indexOf('\n');
    const [id, status] = message
      .slice(0, end < 0 ? undefined : end)
      .split(' ')
      .map(Number);
    const watch = this.#watches[id ?? -1];
    if (id === undefined || !watch) return;
    const page = end < 0 ? this.#pages.get(id) : message.slice(end + 1);
    if (page === undefined) return;
    if (status !== undefined && status !== 200) {
      this.#failed(new Error(page.trim()));
      return;
    }
    this.#pages.set(id, page);
    this.#show(watch, page);
  }

  #show(watch: Watch, page: string): void {
    try {
      watch.show(page);
      this.#went();
    } catch (error) {
      this.#failed(error);
    }
  }

  #poll(isWanted: boolean): void {
    for (const stop of this.#stopPolling) stop();
    if (isWanted) document.documentElement.dataset.feed = 'asked';
    this.#stopPolling = isWanted
      ? this.#watches.map((watch) => poll(watch.everyMs, () => this.#ask(watch), this.#failed))
      : [];
  }

  async #ask(watch: Watch): Promise<void> {
    const target = watch.target();
    if (target === undefined) return;
    const page = await askText(target);
    // It may be another one meanwhile.
    if (target === watch.target()) this.#show(watch, page);
  }
}
