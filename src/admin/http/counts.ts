// The admin server counts itself, as `http.admin.` and `listener.admin.`.
import type { ControlStats } from '../../stats/control-stats.js';
import type { EndedConnection } from './http.js';

export class AdminCounts {
  readonly #stats: ControlStats;
  #connections = 0;
  #speaking = 0;
  #requests = 0;
  #bufferedBytes = 0;

  constructor(stats: ControlStats) {
    this.#stats = stats;
  }

  connectionOpened(): void {
    this.#connections += 1;
    this.#stats.record('listener.admin.connections_accepted_per_socket_event', 1);
    this.#stats.setGauge('listener.admin.downstream_pre_cx_active', 0);
    this.#count(
      'http.admin.downstream_cx_total',
      'listener.admin.downstream_cx_total',
      'listener.admin.main_thread.downstream_cx_total',
    );
    this.#showConnections();
  }

  connectionRefused(): void {
    this.#count('listener.admin.downstream_global_cx_overflow');
  }

  connectionClosed({ lengthMs, isLocal, lastBytes }: EndedConnection): void {
    this.#connections -= 1;
    if (lastBytes > 0) this.#showHttp(-1);
    this.#count(
      'http.admin.downstream_cx_destroy',
      `http.admin.downstream_cx_destroy_${isLocal ? 'local' : 'remote'}`,
      'listener.admin.downstream_cx_destroy',
    );
    for (const scope of ['http', 'listener']) {
      this.#stats.record(`${scope}.admin.downstream_cx_length_ms`, lengthMs);
    }
    this.#showBuffered(-lastBytes);
    this.#showConnections();
  }

  /** The real server looks at its buffer when it has read, and sees what came last. */
  received(bytes: number, bytesBefore: number): void {
    if (bytesBefore === 0) {
      this.#count('http.admin.downstream_cx_http1_total');
      this.#showHttp(1);
    }
    this.#stats.count('http.admin.downstream_cx_rx_bytes_total', bytes);
    this.#showBuffered(bytes - bytesBefore);
  }

  requestBegan(): void {
    this.#requests += 1;
    this.#count('http.admin.downstream_rq_total', 'http.admin.downstream_rq_http1_total');
    this.#stats.setGauge('http.admin.downstream_rq_active', this.#requests);
  }

  answered(status: number): void {
    const byClass = `downstream_rq_${Math.floor(status / 100)}xx`;
    this.#count(
      'http.admin.downstream_rq_completed',
      `http.admin.${byClass}`,
      'listener.admin.http.admin.downstream_rq_completed',
      `listener.admin.http.admin.${byClass}`,
    );
  }

  requestEnded(durationMs: number, sentBytes: number): void {
    this.#requests -= 1;
    this.#stats.count('http.admin.downstream_cx_tx_bytes_total', sentBytes);
    this.#stats.setGauge('http.admin.downstream_rq_active', this.#requests);
    this.#stats.record('http.admin.downstream_rq_time', Math.round(durationMs));
  }

  /** Its client has gone before it was answered in whole. */
  requestLeft(): void {
    this.#count(
      'http.admin.downstream_rq_rx_reset',
      'http.admin.downstream_cx_destroy_active_rq',
      'http.admin.downstream_cx_destroy_remote_active_rq',
    );
  }

  requestMalformed(): void {
    this.#count(
      'http.admin.downstream_cx_protocol_error',
      'http.admin.downstream_rq_response_before_rq_complete',
      'http.admin.downstream_rq_rx_reset',
    );
  }

  askedElsewhere(): void {
    this.#count('http.admin.downstream_rq_non_relative_path');
  }

  pathRefused(): void {
    this.#count('http.admin.downstream_rq_failed_path_normalization');
  }

  /** Connections on which anything has come. */
  #showHttp(change: 1 | -1): void {
    this.#speaking += change;
    this.#stats.setGauge('http.admin.downstream_cx_http1_active', this.#speaking);
  }

  #showBuffered(change: number): void {
    this.#bufferedBytes += change;
    this.#stats.setGauge('http.admin.downstream_cx_rx_bytes_buffered', this.#bufferedBytes);
  }

  #showConnections(): void {
    for (const name of CONNECTION_GAUGES) this.#stats.setGauge(name, this.#connections);
  }

  #count(...names: readonly string[]): void {
    for (const name of names) this.#stats.count(name);
  }
}

const CONNECTION_GAUGES = [
  'http.admin.downstream_cx_active',
  'listener.admin.downstream_cx_active',
  'listener.admin.main_thread.downstream_cx_active',
];
