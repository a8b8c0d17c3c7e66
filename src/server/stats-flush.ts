// At every flush the histograms are merged and the server's own gauges are written.
import type { NativeProxy } from '../native.js';
import type { ControlStats } from './control-stats.js';
import { stateNumber, type ServerState } from './state.js';

export interface FlushSource {
  readonly native: NativeProxy;
  readonly stats: ControlStats;
  state(): ServerState;
  uptimeMs(): number;
}

/** No certificate expires: the largest number of days that the gauge holds. */
const NEVER_EXPIRES_DAYS = 4_294_967_295;

export class StatsFlush {
  readonly #source: FlushSource;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: FlushSource) {
    this.#source = source;
  }

  start(intervalMs: number): void {
    this.#timer = setInterval(() => this.flush(), intervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  flush(): void {
    this.#source.native.flushHistograms();
    this.writeGauges();
  }

  /** What the server knows of itself, now. */
  writeGauges(): void {
    const { native, stats } = this.#source;
    const state = this.#source.state();
    const memory = native.memory();
    stats.setGauge('server.uptime', Math.floor(this.#source.uptimeMs() / 1000));
    stats.setGauge('server.live', state === 'LIVE' ? 1 : 0);
    stats.setGauge('server.state', stateNumber(state));
    stats.setGauge('server.memory_allocated', memory.allocated);
    stats.setGauge('server.memory_heap_size', memory.heapSize);
    stats.setGauge('server.memory_physical_size', process.memoryUsage.rss());
    stats.setGauge('server.total_connections', connectionCount(native));
    stats.setGauge('server.parent_connections', 0);
    stats.setGauge('server.days_until_first_cert_expiring', NEVER_EXPIRES_DAYS);
  }
}

function connectionCount(native: NativeProxy): number {
  const names = native
    .listeners()
    .map(({ statName }) => `listener.${statName}.downstream_cx_active`);
  return names.reduce((total, name) => total + (native.statValue(name) ?? 0), 0);
}
