// What one connection counts on its cluster and its host, whatever is spoken on it.
import type { Socket } from 'node:net';
import { monotonicMs } from '../base/clock.js';
import type { ControlHost } from '../native.js';
import type { ClusterStats } from './cluster-stats.js';
import { tlsFaultOf, type DialFailure } from './dial-failure.js';

export class ConnectionCounts {
  readonly #stats: ClusterStats;
  readonly #host: ControlHost;
  readonly #startMs = monotonicMs();
  #raw: Socket | undefined;
  #countedIn = 0;
  #countedOut = 0;
  #shownBuffered = 0;

  /** It is about to be dialled. */
  constructor(stats: ClusterStats, host: ControlHost) {
    this.#stats = stats;
    this.#host = host;
    stats.count('upstream_cx_total');
    stats.move('upstream_cx_active', 1);
    stats.countOn(host, 'cx_total');
    stats.countOn(host, 'cx_active');
    // The first connection to a host is opened whatever the limit.
    if (!stats.take('connections')) stats.count('upstream_cx_overflow');
    stats.take('connection_pools');
  }

  /** `raw`: below TLS; its counts are those of the network. */
  opened(socket: Socket, raw: Socket): void {
    this.#raw = raw;
    this.#stats.record('upstream_cx_connect_ms', monotonicMs() - this.#startMs);
    this.#stats.countHandshake(socket);
  }

  failed(failure: DialFailure): void {
    this.#stats.count('upstream_cx_connect_fail');
    if (failure.kind === 'timeout') this.#stats.count('upstream_cx_connect_timeout');
    const fault = tlsFaultOf(failure);
    if (fault !== undefined) this.#stats.count(fault);
    this.#stats.countOn(this.#host, 'cx_connect_fail');
  }

  /** What has gone over the network since the previous call. */
  countBytes(): void {
    if (!this.#raw) return;
    const { bytesRead, bytesWritten } = this.#raw;
    if (bytesRead > this.#countedIn) {
      this.#stats.count('upstream_cx_rx_bytes_total', bytesRead - this.#countedIn);
      // What was read last, as the real server shows it.
      this.showBuffered(bytesRead - this.#countedIn);
      this.#countedIn = bytesRead;
    }
    if (bytesWritten > this.#countedOut) {
      this.#stats.count('upstream_cx_tx_bytes_total', bytesWritten - this.#countedOut);
      this.#countedOut = bytesWritten;
    }
  }

  showBuffered(bytes: number): void {
    this.#stats.move('upstream_cx_rx_bytes_buffered', bytes - this.#shownBuffered);
    this.#shownBuffered = bytes;
  }

  /** It ends with requests on it. */
  brokenOff(who: 'local' | 'remote'): void {
    this.#stats.count('upstream_cx_destroy_with_active_rq');
    this.#stats.count(`upstream_cx_destroy_${who}_with_active_rq`);
  }

  closed(who: 'local' | 'remote'): void {
    this.#stats.count('upstream_cx_destroy');
    this.#stats.count(`upstream_cx_destroy_${who}`);
    this.#stats.move('upstream_cx_active', -1);
    this.#stats.countOn(this.#host, 'cx_active', -1);
    this.#stats.giveBack('connections');
    this.#stats.giveBack('connection_pools');
    this.#stats.record('upstream_cx_length_ms', monotonicMs() - this.#startMs);
  }
}
