// Learns that a process is LIVE where it does not say so by itself: from its admin server, which knows
// the epoch that it belongs to (the one before may still answer), or from its mere age.
import { readFileSync } from 'node:fs';
import type Http from 'node:http';
import { createRequire } from 'node:module';
import { startTimeout } from '../base/timers.js';

/** Nothing of it: the process says so. */
export interface Readiness {
  readonly afterMs: number | undefined;
  /** "127.0.0.1:9901" */
  readonly adminAddress: string | undefined;
  /** A file that holds such an address. */
  readonly adminAddressPath: string | undefined;
}

const POLL_MS = 100;
const ANSWER_TIMEOUT_MS = 1000;

/** Calls back once, unless what it returns is called before. */
export function watchReadiness(
  { afterMs, adminAddress, adminAddressPath }: Readiness,
  epoch: number,
  onReady: () => void,
): () => void {
  let isOver = false;
  const timers: NodeJS.Timeout[] = [];
  const stop = (): void => {
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
  };
  const finish = (): void => {
    if (isOver) return;
    stop();
    onReady();
  };
  const poll = async (address: () => string | undefined): Promise<void> => {
    const known = address();
    if (known !== undefined && (await isLive(known, epoch))) return finish();
    if (!isOver) timers[0] = startTimeout(() => void poll(address), POLL_MS);
  };
  if (adminAddress !== undefined) void poll(() => adminAddress);
  else if (adminAddressPath !== undefined) void poll(() => readAddress(adminAddressPath));
  else if (afterMs !== undefined) timers[0] = startTimeout(finish, afterMs);
  return stop;
}

function readAddress(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

async function isLive(address: string, epoch: number): Promise<boolean> {
  const page = await get(`http://${address}/server_info`);
  try {
    const info = JSON.parse(page ?? '') as ServerInfo;
    return info.state === 'LIVE' && (info.command_line_options?.restart_epoch ?? 0) === epoch;
  } catch {
    return false;
  }
}

interface ServerInfo {
  readonly state?: string;
  readonly command_line_options?: { readonly restart_epoch?: number };
}

/** Undefined: there is no answer. */
function get(url: string): Promise<string | undefined> {
  // Loaded only for commands that say nothing themselves.
  const http = createRequire(import.meta.url)('node:http') as typeof Http;
  return new Promise((resolve) => {
    const nothing = (): void => resolve(undefined);
    const request = http.get(url, { agent: false, timeout: ANSWER_TIMEOUT_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve(text));
      response.on('error', nothing);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', nothing);
  });
}
