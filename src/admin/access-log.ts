// The admin server's access log: a line for each request, in the default format.
import { closeSync, openSync, writeSync } from 'node:fs';
import type { AdminReply, AdminRequest } from './http.js';

/** Lines that wait to be written; more are written at once. */
const MAX_WAITING = 256;

export class AdminAccessLog {
  readonly #paths: readonly string[];
  readonly #flushIntervalMs: number;
  #timer: NodeJS.Timeout | undefined;
  #files: number[];
  #waiting: string[] = [];

  /** Throws when a file cannot be opened. */
  constructor(paths: readonly string[], flushIntervalMs: number) {
    this.#paths = paths;
    this.#files = paths.map(openForAppending);
    this.#flushIntervalMs = flushIntervalMs;
  }

  add(request: AdminRequest, reply: AdminReply, sentBytes: number, localAddress: string): void {
    this.#waiting.push(formatLine(request, reply, sentBytes, localAddress));
    if (this.#waiting.length >= MAX_WAITING) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), this.#flushIntervalMs);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const text = this.#waiting.join('');
    this.#waiting = [];
    for (const file of this.#files) {
      try {
        writeSync(file, text);
      } catch {
        // A full disk does not end the admin server.
      }
    }
  }

  /** A file that cannot be opened any more goes on where it is. */
  reopen(): void {
    this.flush();
    this.#files = this.#files.map((before, index) => {
      try {
        const file = openForAppending(this.#paths[index] ?? '');
        closeSync(before);
        return file;
      } catch {
        return before;
      }
    });
  }

  close(): void {
    this.flush();
    for (const file of this.#files) closeSync(file);
    this.#files = [];
  }
}

function openForAppending(path: string): number {
  return openSync(path, 'a', 0o644);
}

function formatLine(
  { method, target, headers, body, beganMs }: AdminRequest,
  { status = 200 }: AdminReply,
  sentBytes: number,
  localAddress: string,
): string {
  const start = new Date(beganMs).toISOString();
  const durationMs = Math.max(0, Math.round(Date.now() - beganMs));
  const forwarded = [headers['x-forwarded-for'], localAddress].filter((part) => part !== '');
  const quoted = [
    forwarded.join(','),
    headers['user-agent'] || '-',
    headers['x-request-id'] || '-',
    headers.host || '-',
    '-',
  ];
  const sizes = `${Buffer.byteLength(body)} ${sentBytes} ${durationMs}`;
  return `[${start}] "${method} ${target} HTTP/1.1" ${status} - ${sizes} - "${quoted.join('" "')}"\n`;
}
