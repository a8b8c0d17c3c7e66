// GET /stats and /stats/prometheus, POST /reset_counters.
import type { StatsQuery } from '../../native-stats.js';
import { compileFilter } from '../../plan/match/regex/regex.js';
import type { Endpoint, EndpointParameter } from '../endpoint.js';
import type { AdminHost } from '../host.js';
import { badRequest, type AdminReply } from '../http/http.js';
import { lazyPage } from '../pages/lazy-page.js';
import { prefersMetricFamilies } from '../pages/media-types.js';
import type { Parameters } from '../http/parameters.js';
import { activeStatsPage, statsPage } from '../pages/stats-page.js';
import { HTML_DISABLED } from '../pages/html.js';

const FORMATS = ['json', 'prometheus', 'text'] as const;
const PAGES = ['html', 'active-html'] as const;
const TYPES = ['All', 'Counters', 'Histograms', 'Gauges', 'TextReadouts'] as const;
const BUCKETS = ['cumulative', 'disjoint', 'detailed', 'summary'] as const;
const MODES = [...BUCKETS, 'none', 'prometheusnative'] as const;
const DEFAULT_NATIVE_BUCKETS = 20;
const MOST_NATIVE_BUCKETS = 2 ** 32 - 1;
const HIDDEN = ['include', 'only', 'exclude'] as const;

const USED_ONLY: EndpointParameter = {
  name: 'usedonly',
  help: 'Only statistics that were written since the start',
  isFlag: true,
};
const FILTER: EndpointParameter = {
  name: 'filter',
  help: 'A regular expression (RE2) that is searched in names',
};
const INVERT: EndpointParameter = {
  name: 'invert_filter',
  help: 'Only statistics whose name the filter does not match',
  isFlag: true,
};
const buckets = (oneOf: readonly string[]): EndpointParameter => ({
  name: 'histogram_buckets',
  help: 'How histograms are shown',
  oneOf,
});

const PARAMETERS: readonly EndpointParameter[] = [
  USED_ONLY,
  FILTER,
  INVERT,
  { name: 'format', help: 'The form of the answer', oneOf: [...PAGES, ...FORMATS] },
  { name: 'type', help: 'Only statistics of this type', oneOf: TYPES },
  { name: 'hidden', help: 'What becomes of hidden statistics', oneOf: HIDDEN },
  buckets(BUCKETS),
];

export function statsEndpoints(host: AdminHost): Endpoint[] {
  return [
    {
      path: '/stats',
      help: 'all statistics',
      mutates: false,
      parameters: PARAMETERS,
      ignoresForm: true,
      handle: ({ parameters, accept }) => {
        const format = parameters.get('format') || 'text';
        const page = findIn(PAGES, format);
        if (!page) return answer(host, parameters, format, accept);
        return process.env.FAIRLEAD_ADMIN_HTML === 'disabled'
          ? HTML_DISABLED
          : answerPage(host, parameters, page);
      },
    },
    {
      path: '/stats/prometheus',
      help: 'all statistics for Prometheus',
      mutates: false,
      parameters: [
        USED_ONLY,
        {
          name: 'text_readouts',
          help: 'Texts too, each as a gauge with the text in a label',
          isFlag: true,
        },
        FILTER,
        INVERT,
        buckets(['cumulative', 'summary', 'prometheusnative']),
        {
          name: 'native_histogram_max_buckets',
          help: `Of each native histogram, at most so many buckets (${DEFAULT_NATIVE_BUCKETS})`,
        },
      ],
      ignoresForm: true,
      handle: ({ parameters, accept }) => answer(host, parameters, 'prometheus', accept),
    },
    {
      path: '/reset_counters',
      help: 'set all counters to zero',
      mutates: true,
      parameters: [],
      handle: () => {
        host.native.resetCounters();
        return { body: 'OK\n' };
      },
    },
  ];
}

const TYPE_OF = {
  text: 'text',
  json: 'json',
  prometheus: 'text',
  'metric-families': 'metricFamilies',
} as const;

function answer(
  host: AdminHost,
  parameters: Parameters,
  format: string,
  accept: string,
): AdminReply {
  const query = readQuery(parameters, format, prefersMetricFamilies(accept));
  if (typeof query === 'string') return badRequest(query);
  if (host.flushesOnAdmin) host.flushStats();
  return {
    type: TYPE_OF[query.format],
    body: lazyPage(() => host.native.openStats(query)),
    countsAtEnd: query.format === 'prometheus' || query.format === 'metric-families',
  };
}

function answerPage(
  host: AdminHost,
  parameters: Parameters,
  page: (typeof PAGES)[number],
): AdminReply {
  const reply = answer(host, parameters, 'text', '');
  if (typeof reply.body === 'string' || 'listen' in reply.body) return reply;
  const body =
    page === 'html'
      ? statsPage(PARAMETERS, parameters, reply.body)
      : activeStatsPage(PARAMETERS, parameters);
  return { type: 'html', body };
}

/** What is asked for, or why it cannot be: the first of what the real server looks at. */
function readQuery(
  parameters: Parameters,
  formatName: string,
  inMetricFamilies: boolean,
): StatsQuery | string {
  const pattern = parameters.get('filter') ?? '';
  if (pattern === '' && parameters.has('invert_filter'))
    return 'invert_filter can only be used if filter is also provided';
  const filter = pattern === '' ? undefined : compileFilter(pattern);
  if (filter && 'error' in filter) return `Invalid re2 regex: ${filter.error}`;
  const given = parameters.get('histogram_buckets') ?? '';
  const mode = findIn(MODES, given);
  if (given !== '' && !mode)
    return `usage: /stats?histogram_buckets=(${BUCKETS.join('|')}|prometheusnative)\n`;
  const mostBuckets = readBucketLimit(parameters.get('native_histogram_max_buckets') ?? '');
  if (mostBuckets === undefined)
    return 'invalid native_histogram_max_buckets value: must be a positive integer';
  const type = findIn(TYPES, parameters.get('type') || 'All');
  if (!type) return 'invalid &type= param';
  const hidden = findIn(HIDDEN, parameters.get('hidden') || 'exclude');
  if (!hidden) return 'usage: /stats?hidden=(include|only|exclude)\n\n';
  const known = findIn(FORMATS, formatName);
  const isGivenKnown =
    findIn([...FORMATS, ...PAGES, ''], parameters.get('format') ?? '') !== undefined;
  if (!known || !isGivenKnown)
    return 'usage: /stats?format=(html|active-html|json|prometheus|text)\n\n';
  const format = known === 'prometheus' && inMetricFamilies ? 'metric-families' : known;
  const histogramBuckets = bucketsOf(mode, format);
  if (typeof histogramBuckets === 'object') return histogramBuckets.refusal;
  return {
    format,
    type,
    hidden,
    usedOnly: parameters.has('usedonly'),
    invertFilter: parameters.has('invert_filter'),
    textReadouts: parameters.has('text_readouts'),
    ...(filter && { filter: filter.program }),
    ...(histogramBuckets && { histogramBuckets }),
    ...(mode === 'prometheusnative' && { nativeBuckets: mostBuckets }),
  };
}

/** Undefined: it is no limit. */
function readBucketLimit(text: string): number | undefined {
  if (text === '') return DEFAULT_NATIVE_BUCKETS;
  const limit = /^\s*\+?\d+\s*$/.test(text) ? Number(text) : 0;
  return limit > 0 && limit <= MOST_NATIVE_BUCKETS ? limit : undefined;
}

/** Each format has a default of its own, and modes that it cannot show. */
function bucketsOf(
  mode: (typeof MODES)[number] | undefined,
  format: StatsQuery['format'],
): StatsQuery['histogramBuckets'] | { readonly refusal: string } {
  const isPrometheus = format === 'prometheus' || format === 'metric-families';
  switch (mode) {
    case 'none':
      return isPrometheus ? 'summary' : undefined;
    case 'prometheusnative':
      if (format === 'metric-families') return undefined;
      return {
        refusal: isPrometheus
          ? 'unsupported prometheusnative histogram type when not using protobuf exposition format'
          : 'Invalid histogram_buckets type for non prometheus stats type',
      };
    case 'disjoint':
    case 'detailed':
      return isPrometheus ? { refusal: 'unsupported prometheus histogram bucket mode' } : mode;
    default:
      return mode;
  }
}

function findIn<T extends string>(known: readonly T[], name: string): T | undefined {
  return known.find((value) => value === name);
}
