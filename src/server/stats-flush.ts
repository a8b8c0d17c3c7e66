// At every flush interval the histograms are merged and the server's own gauges are written.
import type { NativeProxy, StatHandle } from '../native.js';
import { stateNumber, type ServerState } from './state.js';

export interface FlushSource {
  state(): ServerState;
  /** Milliseconds since the start. */
  uptimeMs(): number;
  readonly concurrency: number;
  readonly versionNumber: number;
}

/** 32 bits of ones: no certificate expires. */
const NO_CERTIFICATE_DAYS = 4_294_967_295;

export class StatsFlush {
  readonly #native: NativeProxy;
  readonly #source: FlushSource;
  readonly #handles = new Map<string, StatHandle>();
  #timer: NodeJS.Timeout | undefined;

  constructor(native: NativeProxy, source: FlushSource) {
    this.#native = native;
    this.#source = source;
  }

  start(intervalMs: number): void {
    this.#gauge('server.concurrency', this.#source.concurrency);
    this.#gauge('server.hot_restart_epoch', 0);
    this.#gauge('server.hot_restart_generation', 1);
    this.#timer = setInterval(() => this.flush(), intervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  flush(): void {
    const memory = this.#native.memory();
    this.#native.flushHistograms();
    const state = this.#source.state();
    this.#gauge('server.uptime', Math.floor(this.#source.uptimeMs() / 1000));
    this.#gauge('server.live', state === 'DRAINING' ? 0 : 1);
    this.#gauge('server.state', stateNumber(state));
    this.#gauge('server.version', this.#source.versionNumber);
    this.#gauge('server.memory_allocated', memory.allocated);
    this.#gauge('server.memory_heap_size', memory.heapSize);
    this.#gauge('server.memory_physical_size', process.memoryUsage.rss());
    this.#gauge('server.parent_connections', 0);
    this.#gauge('server.total_connections', this.#connections());
    this.#gauge('server.days_until_first_cert_expiring', NO_CERTIFICATE_DAYS);
    this.#gauge('server.seconds_until_first_ocsp_response_expiring', 0);
  }

  #connections(): number {
    return this.#native.listeners().reduce((total, listener) => {
      const name = `listener.${listener.statName}.downstream_cx_active`;
      return total + (this.#native.statValue(name) ?? 0);
    }, 0);
  }

  #gauge(name: string, value: number): void {
    let handle = this.#handles.get(name);
    if (handle === undefined) {
      handle = this.#native.stat(name);
      this.#handles.set(name, handle);
    }
    this.#native.gaugeSet(handle, value);
  }
}
