// Learns that a process is LIVE where it does not say so by itself: from its admin server, which knows
// the epoch that it belongs to (the one before may still answer), or from its mere age.
import { readFileSync } from 'node:fs';
import { httpGet } from '../base/http-get.js';
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
  const url = URL.canParse(`http://${address}`)
    ? new URL(`http://${address}/server_info`)
    : undefined;
  const page = url && (await httpGet(url, ANSWER_TIMEOUT_MS));
  try {
    const info = JSON.parse(page?.text ?? '') as ServerInfo;
    return info.state === 'LIVE' && (info.command_line_options?.restart_epoch ?? 0) === epoch;
  } catch {
    return false;
  }
}

interface ServerInfo {
  readonly state?: string;
  readonly command_line_options?: { readonly restart_epoch?: number };
}
