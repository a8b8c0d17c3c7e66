// The tiles: what all listeners serve together, this second.
import { histogramsTarget, parseHistograms, parseValues, valuesTarget, type Bin } from './admin.js';
import { byId } from './elements.js';
import { milliseconds, percent, short, whole } from './numbers.js';
import { quantileOf } from './quantile.js';
import type { Watch } from './feed.js';
import { Rates, sum } from './rates.js';
import { Tile } from './tile.js';

const COUNTS =
  '^(http\\..*\\.downstream_(rq_(total|active|[45]xx)|cx_active)|tcp\\..*\\.downstream_cx_(total|[rt]x_bytes_total))$';
const TIMES = '^http\\..*\\.downstream_rq_time$';
/** The admin server's own requests are no traffic. */
const isTraffic = (name: string): boolean => !name.startsWith('http.admin.');

const requests = new Tile('tile-requests', 'Requests per second');
const errors = new Tile('tile-errors', 'Answers 5xx');
const latency = new Tile('tile-latency', 'Latency p50 / p99', 2);
const connections = new Tile('tile-connections', 'Open connections');

export function addTiles(): void {
  byId('tiles').append(requests.element, errors.element, latency.element, connections.element);
}

const rates = new Rates();

export const COUNTS_WATCH: Watch = {
  everyMs: 1000,
  target: () => valuesTarget(COUNTS),
  show: showCounts,
};

function showCounts(page: string): void {
  rates.add(parseValues(page), performance.now());
  const names = [...rates.names()].filter(isTraffic);
  const total = (suffix: string): number | undefined =>
    sum(names.filter((name) => name.endsWith(suffix)).map((name) => rates.rate(name)));
  const now = (suffix: string): number =>
    sum(names.filter((name) => name.endsWith(suffix)).map((name) => rates.value(name))) ?? 0;

  const perSecond = total('.downstream_rq_total');
  requests.show(short(perSecond), `${whole(now('.downstream_rq_active'))} under way`, [perSecond]);
  const bad = total('.downstream_rq_5xx');
  const share = bad !== undefined && perSecond ? Math.min(1, bad / perSecond) : bad;
  errors.show(percent(share), `4xx ${short(total('.downstream_rq_4xx'))}/s`, [share], !!share);
  const tcp = total('.downstream_cx_total');
  const bytes = sum([
    total('.downstream_cx_rx_bytes_total'),
    total('.downstream_cx_tx_bytes_total'),
  ]);
  const note = tcp === undefined ? '' : `TCP ${short(tcp)}/s, ${short(bytes)}B/s`;
  const open = now('.downstream_cx_active');
  connections.show(whole(open), note, [open]);
}

/** Of the values since the last flush, of all listeners together. */
export const LATENCY_WATCH: Watch = {
  everyMs: 5000,
  target: () => histogramsTarget(TIMES),
  show: showLatency,
};

function showLatency(page: string): void {
  const bins: Bin[] = [];
  for (const [name, own] of parseHistograms(page)) if (isTraffic(name)) bins.push(...own);
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => quantileOf(bins, share));
  const value = `${milliseconds(p50)} / ${milliseconds(p99)}`;
  latency.show(value, `p90 ${milliseconds(p90)}`, [p99, p50]);
}
