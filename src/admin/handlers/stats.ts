// GET /stats and /stats/prometheus, POST /reset_counters.
import type { HistogramBuckets, StatsFormat, StatsQuery, StatsType } from '../../native.js';
import { compileRegex } from '../../plan/regex.js';
import type { Server } from '../../server/server.js';
import type { Endpoint, EndpointParameter } from '../endpoints.js';
import type { AdminReply } from '../http.js';

const FORMATS = ['text', 'json', 'prometheus'];
const TYPES = ['All', 'Counters', 'Histograms', 'Gauges', 'TextReadouts'] as const;
const BUCKETS = ['cumulative', 'disjoint', 'detailed', 'summary'] as const;
const HIDDEN = ['include', 'only', 'exclude'] as const;

const USED_ONLY: EndpointParameter = { name: 'usedonly', help: 'Only include stats that have been written by system since restart' };
const FILTER: EndpointParameter = { name: 'filter', help: 'Regular expression (Google re2) for filtering stats' };
const INVERT: EndpointParameter = { name: 'invert_filter', help: 'Invert the filter regex' };

export function statsEndpoints(server: Server): Endpoint[] {
  return [
    {
      path: '/stats',
      help: 'print server stats',
      mutates: false,
      parameters: [
        USED_ONLY,
        FILTER,
        INVERT,
        { name: 'format', help: 'Format to use', oneOf: ['text', 'json', 'prometheus'] },
        { name: 'type', help: 'Stat types to include.', oneOf: TYPES },
        { name: 'histogram_buckets', help: 'Histogram bucket display mode', oneOf: BUCKETS },
      ],
      handle: ({ query }) => answer(server, query, query.get('format') || 'text'),
    },
    {
      path: '/stats/prometheus',
      help: 'print server stats in prometheus format',
      mutates: false,
      parameters: [
        USED_ONLY,
        { name: 'text_readouts', help: 'Render text_readouts as new gaugues with value 0 (increases Prometheus data size)' },
        FILTER,
        INVERT,
        { name: 'histogram_buckets', help: 'Histogram bucket display mode', oneOf: ['cumulative', 'summary'] },
      ],
      handle: ({ query }) => answer(server, query, 'prometheus'),
    },
    {
      path: '/reset_counters',
      help: 'reset all counters to zero',
      mutates: true,
      parameters: [],
      handle: () => {
        server.native.resetCounters();
        return { body: 'OK\n' };
      },
    },
  ];
}

function answer(server: Server, query: URLSearchParams, format: string): AdminReply {
  const read = readQuery(query, format);
  if ('refusal' in read) return { status: 400, body: read.refusal };
  const { wanted } = read;
  const flushes = (server.bootstrap as { stats_flush_on_admin?: boolean }).stats_flush_on_admin;
  if (flushes) server.flushStats();
  return { type: wanted.format === 'json' ? 'json' : 'text', body: server.native.openStats(wanted) };
}

type ReadQuery = { readonly wanted: StatsQuery } | { readonly refusal: string };

function readQuery(query: URLSearchParams, format: string): ReadQuery {
  const refuse = (refusal: string): ReadQuery => ({ refusal });
  const given = (name: string): string => query.get(name) ?? '';
  if (!FORMATS.includes(format)) return refuse('usage: /stats?format=(html|active-html|json|prometheus|text)\n\n');
  const type = TYPES.find((known) => known === (given('type') || 'All'));
  if (!type) return refuse('invalid &type= param');
  const hidden = HIDDEN.find((known) => known === (given('hidden') || 'exclude'));
  if (!hidden) return refuse('usage: /stats?hidden=(include|only|exclude)\n\n');
  const mode = given('histogram_buckets');
  if (mode === 'prometheusnative') {
    return refuse(
      format === 'prometheus'
        ? 'unsupported prometheusnative histogram type when not using protobuf exposition format'
        : 'Invalid histogram_buckets type for non prometheus stats type',
    );
  }
  const buckets = BUCKETS.find((known) => known === mode);
  if (mode !== '' && !buckets) {
    return refuse('usage: /stats?histogram_buckets=(cumulative|disjoint|detailed|summary|prometheusnative)\n');
  }
  if (format === 'prometheus' && (buckets === 'disjoint' || buckets === 'detailed')) {
    return refuse('unsupported prometheus histogram bucket mode');
  }
  const pattern = given('filter');
  const filter = pattern === '' ? undefined : compileRegex(pattern);
  if (filter && 'error' in filter) return refuse(`Invalid re2 regex: ${filter.error.replaceAll('`', '')}`);
  const wanted: StatsQuery = {
    format: format as StatsFormat,
    usedOnly: query.has('usedonly'),
    invertFilter: query.has('invert_filter'),
    type: type as StatsType,
    textReadouts: query.has('text_readouts'),
    hidden,
    ...(filter ? { filter: filter.program } : {}),
    ...(buckets ? { histogramBuckets: buckets as HistogramBuckets } : {}),
  };
  return { wanted };
}
