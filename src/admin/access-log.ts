// The admin server's access log: a line for each request, in the default format. Requests are few,
// and who looks at the log in an incident wants the last one: each line is written at once.
import { closeSync, openSync, writeSync } from 'node:fs';
import type { AdminReply, AdminRequest, SentBytes } from './http.js';

export class AdminAccessLog {
  readonly #paths: readonly string[];
  #files: number[];

  /** Throws when a file cannot be opened. */
  constructor(paths: readonly string[]) {
    this.#paths = paths;
    this.#files = paths.map(openForAppending);
  }

  add(request: AdminRequest, reply: AdminReply, sent: SentBytes, localAddress: string): void {
    const line = formatLine(request, reply, sent, localAddress);
    for (const file of this.#files) {
      try {
        writeSync(file, line);
      } catch {
        // A full disk does not end the admin server.
      }
    }
  }

  /** A file that cannot be opened any more goes on where it is. */
  reopen(): void {
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
    for (const file of this.#files) closeSync(file);
    this.#files = [];
  }
}

function openForAppending(path: string): number {
  return openSync(path, 'a', 0o644);
}

function formatLine(
  { method, target, headers, body, beganMs }: AdminRequest,
  { status = 200, fault }: AdminReply,
  sent: SentBytes,
  localAddress: string,
): string {
  const start = new Date(beganMs).toISOString();
  const durationMs = Math.max(0, Math.round(Date.now() - beganMs));
  const forwarded = [headers['x-forwarded-for'], localAddress].filter((part) => part !== '');
  // What has no head, or no path to look for, never gets an x-forwarded-for.
  const isForwarded = method !== '' && (fault === undefined || fault === 'protocol');
  const quoted = [
    isForwarded ? forwarded.join(',') : '-',
    headers['user-agent'] || '-',
    headers['x-request-id'] || '-',
    headers.host || '-',
    '-',
  ];
  const sizes = `${Buffer.byteLength(body)} ${sent.ofBody} ${durationMs}`;
  const asked = `${method || '-'} ${target || '-'} HTTP/1.1`;
  const flags = sent.isCut ? 'DC' : fault === 'protocol' ? 'DPE' : '-';
  return `[${start}] "${asked}" ${status} ${flags} ${sizes} - "${quoted.join('" "')}"\n`;
}
