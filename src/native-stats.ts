// The addon's part in statistics: those of the control plane, pages of all, and what goes to sinks.
/** A statistic of the control plane's own: an opaque number from `stat`. */
export type StatHandle = number;

/** 'metric-families': Prometheus' protobuf exposition. */
export type StatsFormat = 'text' | 'json' | 'prometheus' | 'metric-families';
export type StatsType = 'All' | 'Counters' | 'Gauges' | 'Histograms' | 'TextReadouts';
export type HistogramBuckets = 'summary' | 'cumulative' | 'disjoint' | 'detailed';

export interface StatsQuery {
  readonly format: StatsFormat;
  readonly usedOnly: boolean;
  /** A compiled program (src/plan/match/regex/regex.ts) that is searched in each name. */
  readonly filter?: Uint8Array;
  readonly invertFilter: boolean;
  readonly type: StatsType;
  /** Absent: the format's own default (summary; Prometheus: cumulative buckets). */
  readonly histogramBuckets?: HistogramBuckets;
  /**
   * Of metric families: native histograms of at most so many buckets, where the coarsest ones have
   * no more. Absent: none are native.
   */
  readonly nativeBuckets?: number;
  /** Prometheus only: text readouts as gauges with a `text_value` label. */
  readonly textReadouts: boolean;
  /** 'exclude': without hidden stats; 'only': nothing else. */
  readonly hidden: 'include' | 'only' | 'exclude';
}

/** A long answer in pieces: at most about 64 KiB and a few milliseconds each. */
export interface Page {
  /** The next piece; null at the end. */
  next(): Buffer | null;
}

/** For each sink of `NativeOptions.stats`; empty for those that send datagrams. */
export interface SinkPieces {
  readonly pieces: readonly Buffer[];
  readonly more: boolean;
}

/** A StatsBatch, and whether the round goes on. */
export interface ExportedStats {
  readonly batch: Buffer;
  readonly more: boolean;
}

/** Of one proxy. */
export interface StatsAddon {
  /**
   * The handle of a control-plane statistic by its full name ("server.live"); undefined when there is
   * no such scope ("server."). Throws when the scope has no such statistic.
   */
  stat(name: string): StatHandle | undefined;
  /** False: the scope has ended, and the handle with it. */
  counterAdd(handle: StatHandle, amount: number): boolean;
  gaugeSet(handle: StatHandle, value: number): boolean;
  /** To a counter by its full name, which gets no handle. False: there is none. */
  addTo(name: string, amount: number): boolean;
  /**
   * A subscription whose statistics begin with `prefix` has taken an update: its time (ms since 1970), how
   * long it took (ms), its version as a text and as a hash (XXH64), and that there was one. What of these
   * is no statistic of the subscription is passed over.
   */
  tellUpdate(prefix: string, version: string, timeMs: number, durationMs: number): void;
  histogramRecord(handle: StatHandle, value: number): boolean;
  textSet(handle: StatHandle, text: string): boolean;
  isStat(handle: StatHandle): boolean;
  /** The sum over all workers of any counter or gauge by its full name; undefined if unknown. */
  statValue(name: string): number | undefined;
  /** Of all listeners of this process. */
  openConnections(): number;
  /** Merges histograms: what was recorded since the last call becomes the interval. */
  flushHistograms(): void;
  /** Counters read 0 from here on in local output. */
  resetCounters(): void;
  openStats(query: StatsQuery): Page;

  /** Events of all clusters for a Hystrix dashboard; each call moves their windows on. */
  openHystrix(nowSeconds: number): Page;
  /** Windows begin anew. */
  resetHystrix(): void;

  /** Begins to send statistics to the sinks of `NativeOptions.stats`. */
  openFlush(nowMs: number): void;
  /** What comes next; call it until there is no more. */
  nextOfFlush(): SinkPieces;
  /** Values that histograms got one by one since the last call, for those sinks that want them. */
  takeSamples(): SinkPieces;
  /** How many such values had found no room. */
  lostSamples(): number;
}
