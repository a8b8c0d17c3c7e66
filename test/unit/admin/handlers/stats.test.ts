import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StatsQuery } from '../../../../src/native-stats.js';
import { AskedServer, NO_CONNECTION, NOTHING_SENT, type Asking } from '../fake-host.js';

const METRIC_FAMILIES = { headers: { accept: 'application/vnd.google.protobuf' } };

function queryOf(target: string, asking: Asking = {}): StatsQuery {
  const asked = new AskedServer();
  const { status, text } = asked.get(target, asking);
  assert.equal(status, 200, text);
  const [query] = asked.host.native.queries;
  assert.ok(query);
  return query;
}

test('/stats asks for everything as text', () => {
  assert.deepEqual(queryOf('/stats'), {
    format: 'text',
    type: 'All',
    hidden: 'exclude',
    usedOnly: false,
    invertFilter: false,
    textReadouts: false,
  });
});

test('flags count by being there, whatever their value', () => {
  const { usedOnly, invertFilter } = queryOf('/stats?usedonly=0&invert_filter&filter=a');

  assert.deepEqual([usedOnly, invertFilter], [true, true]);
});

test('empty parameters are as good as none', () => {
  assert.deepEqual(
    queryOf('/stats?format=&type=&hidden=&histogram_buckets=&filter='),
    queryOf('/stats'),
  );
});

test('/stats/prometheus is /stats?format=prometheus', () => {
  const target = 'text_readouts&histogram_buckets=summary';
  assert.deepEqual(
    queryOf(`/stats/prometheus?${target}`),
    queryOf(`/stats?format=prometheus&${target}`),
  );
});

test('a filter is compiled; its plus signs are plus signs', () => {
  assert.ok(queryOf('/stats?filter=a+b').filter);
});

const REFUSED: Readonly<Record<string, string>> = {
  '/stats?filter=%5B': 'Invalid re2 regex: missing ]: [',
  '/stats/prometheus?filter=%5B': 'Invalid re2 regex: missing ]: [',
  '/stats?format=bogus': 'usage: /stats?format=(html|active-html|json|prometheus|text)\n\n',
  '/stats?filter=%E9': 'Invalid re2 regex: invalid UTF-8',
  '/stats?type=counters': 'invalid &type= param',
  '/stats?hidden=show': 'usage: /stats?hidden=(include|only|exclude)\n\n',
  '/stats?histogram_buckets=bogus':
    'usage: /stats?histogram_buckets=(cumulative|disjoint|detailed|summary|prometheusnative)\n',
  '/stats?histogram_buckets=prometheusnative':
    'Invalid histogram_buckets type for non prometheus stats type',
  '/stats/prometheus?histogram_buckets=detailed': 'unsupported prometheus histogram bucket mode',
  '/stats/prometheus?histogram_buckets=prometheusnative':
    'unsupported prometheusnative histogram type when not using protobuf exposition format',
  '/stats/prometheus?format=bogus':
    'usage: /stats?format=(html|active-html|json|prometheus|text)\n\n',
  ...Object.fromEntries(
    ['0', '-1', '1.5', 'abc', '0x10', '1e3', '4294967296'].map((limit) => [
      `/stats?native_histogram_max_buckets=${limit}`,
      'invalid native_histogram_max_buckets value: must be a positive integer',
    ]),
  ),
};

test('values that mean nothing are refused in the words of the real server', () => {
  for (const [target, text] of Object.entries(REFUSED)) {
    assert.deepEqual(new AskedServer().get(target), { status: 400, type: 'text', text });
  }
});

test('of several mistakes the one is told that the real server finds first', () => {
  const mistakes = [
    ['filter=(', 'Invalid re2 regex: missing ): ('],
    ['histogram_buckets=bogus', REFUSED['/stats?histogram_buckets=bogus']],
    [
      'native_histogram_max_buckets=0',
      'invalid native_histogram_max_buckets value: must be a positive integer',
    ],
    ['type=bogus', 'invalid &type= param'],
    ['hidden=bogus', REFUSED['/stats?hidden=show']],
    ['format=bogus', REFUSED['/stats?format=bogus']],
  ] as const;
  mistakes.forEach(([, expected], index) => {
    const query = mistakes.slice(index).map(([parameter]) => parameter);
    assert.equal(new AskedServer().get(`/stats?${query.toReversed().join('&')}`).text, expected);
  });
  const native = new AskedServer().get('/stats?histogram_buckets=prometheusnative&type=bogus');
  assert.equal(native.text, 'invalid &type= param');
});

test('for Prometheus no buckets are the quantiles', () => {
  assert.equal(queryOf('/stats/prometheus?histogram_buckets=none').histogramBuckets, 'summary');
  assert.equal(queryOf('/stats?histogram_buckets=none').histogramBuckets, undefined);
});

test('who prefers protobuf gets metric families, on pages of Prometheus only', () => {
  for (const target of ['/stats/prometheus', '/stats?format=prometheus']) {
    assert.equal(queryOf(target, METRIC_FAMILIES).format, 'metric-families');
    assert.equal(new AskedServer().get(target, METRIC_FAMILIES).type, 'metricFamilies');
  }
  for (const target of ['/stats', '/stats?format=json']) {
    assert.deepEqual(queryOf(target, METRIC_FAMILIES), queryOf(target));
  }
  const refused = new AskedServer().get('/stats/prometheus?filter=%5B', METRIC_FAMILIES);
  assert.equal(refused.type, 'text');
});

test('metric families have native histograms, by default of 20 buckets', () => {
  const target = '/stats/prometheus?histogram_buckets=prometheusnative';
  assert.equal(queryOf(target, METRIC_FAMILIES).nativeBuckets, 20);
  assert.equal(queryOf('/stats/prometheus', METRIC_FAMILIES).nativeBuckets, undefined);
  for (const [limit, buckets] of [
    ['', 20],
    ['7', 7],
    ['+07', 7],
    ['%207%20', 7],
    ['4294967295', 2 ** 32 - 1],
  ] as const) {
    const query = queryOf(`${target}&native_histogram_max_buckets=${limit}`, METRIC_FAMILIES);
    assert.equal(query.nativeBuckets, buckets);
  }
});

test('with stats_flush_on_admin statistics are flushed before they are shown', () => {
  const asked = new AskedServer();
  asked.host.flushesOnAdmin = true;
  asked.get('/stats');

  assert.deepEqual(asked.host.asked, ['flush']);
});

test('a Prometheus page shows the counters as they were before it, the others count themselves', () => {
  const asked = new AskedServer();
  const counted: (number | undefined)[] = [];
  asked.host.native.openStats = () => ({
    next: () => {
      counted.push(asked.host.native.value('http.admin.downstream_rq_2xx'));
      return null;
    },
  });
  const ask = (target: string): void => {
    const headers = {
      host: '',
      origin: '',
      accept: '',
      'sec-fetch-site': '',
      'content-type': '',
      'user-agent': '',
      'x-forwarded-for': '',
      'x-request-id': '',
    };
    const request = {
      method: 'GET',
      target,
      headers: { ...headers, host: 'localhost' },
      body: '',
      namesHost: true,
      asksToClose: false,
      beganMs: Date.now(),
      rawHeaders: [],
      connection: NO_CONNECTION,
    };
    const reply = asked.server.answer(request);
    assert.ok(typeof reply.body === 'object' && 'next' in reply.body);
    reply.body.next();
    asked.server.finished(request, reply, NOTHING_SENT);
  };
  ask('/stats');
  ask('/stats/prometheus');
  ask('/stats');

  assert.deepEqual(counted, [1, 1, 3]);
});

test('/reset_counters sets counters to zero', () => {
  const asked = new AskedServer();

  assert.equal(asked.post('/reset_counters').text, 'OK\n');
  assert.deepEqual(asked.host.native.calls, ['resetCounters']);
});

test('a form says nothing of which statistics are shown', () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const path of ['/stats', '/stats/prometheus']) {
    const { status } = new AskedServer().post(path, { headers, body: 'type=bogus&hidden=bogus' });
    assert.equal(status, 200, path);
  }
});
