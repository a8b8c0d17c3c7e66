// The protobuf form of Prometheus' page, as a Prometheus server asks for it, beside the text.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { says, toCluster, webBootstrap } from './support/bootstraps.js';
import { startProxy } from './support/start-proxy.js';

const MEDIA_TYPE =
  'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited';
const REQUESTS = 5;

/** The parts that are read here. */
const MetricFamily = protobuf
  .parse(
    `syntax = "proto2";
    message LabelPair { optional string name = 1; optional string value = 2; }
    message Number { optional double value = 1; }
    message Bucket { optional uint64 cumulative_count = 1; optional double upper_bound = 2; }
    message BucketSpan { optional sint32 offset = 1; optional uint32 length = 2; }
    message Histogram {
      optional uint64 sample_count = 1;
      optional double sample_sum = 2;
      repeated Bucket bucket = 3;
      optional sint32 schema = 5;
      optional double zero_threshold = 6;
      optional uint64 zero_count = 7;
      repeated BucketSpan positive_span = 12;
      repeated sint64 positive_delta = 13;
    }
    message Metric {
      repeated LabelPair label = 1;
      optional Number gauge = 2;
      optional Number counter = 3;
      optional Histogram histogram = 7;
    }
    enum MetricType { COUNTER = 0; GAUGE = 1; SUMMARY = 2; UNTYPED = 3; HISTOGRAM = 4; }
    message MetricFamily {
      optional string name = 1;
      optional MetricType type = 3;
      repeated Metric metric = 4;
    }`,
    { keepCase: true },
  )
  .root.lookupType('MetricFamily');

interface Histogram {
  readonly sample_count: number;
  readonly sample_sum: number;
  readonly bucket: readonly { cumulative_count: number; upper_bound: number }[];
  readonly zero_count: number;
  readonly positive_span: readonly { readonly length: number }[];
  readonly positive_delta: readonly number[];
}
interface Metric {
  readonly label: readonly { readonly name: string; readonly value: string }[];
  readonly gauge: { readonly value: number } | null;
  readonly counter: { readonly value: number } | null;
  readonly histogram: Histogram | null;
}
interface Family {
  readonly name: string;
  readonly type: string;
  readonly metric: readonly Metric[];
}

interface Answer {
  readonly type: string | undefined;
  readonly body: Buffer;
}

/** Each of `accept` is a header line. */
function get(url: string, accept: readonly string[], method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: { accept: [...accept] } }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () =>
        resolve({ type: answer.headers['content-type'], body: Buffer.concat(pieces) }),
      );
    });
    asked.on('error', reject).end();
  });
}

function familiesOf(body: Buffer): Family[] {
  const reader = protobuf.Reader.create(body);
  const families: Family[] = [];
  while (reader.pos < reader.len) {
    const message = MetricFamily.decodeDelimited(reader);
    const options = { longs: Number, enums: String, defaults: true };
    families.push(MetricFamily.toObject(message, options) as Family);
  }
  return families;
}

/** The same as lines of text. */
function linesOf({ name, type, metric }: Family): string[] {
  const lines = metric.flatMap(({ label, gauge, counter, histogram }) => {
    const labels = label.map((pair) => `${pair.name}="${pair.value}"`);
    const line = (suffix: string, value: number, ...more: readonly string[]): string =>
      `${name}${suffix}{${[...labels, ...more].join(',')}} ${value}`;
    if (!histogram) return [line('', (gauge ?? counter)?.value ?? NaN)];
    return [
      ...histogram.bucket.map((bucket) =>
        line('_bucket', bucket.cumulative_count, `le="${bucket.upper_bound}"`),
      ),
      line('_bucket', histogram.sample_count, 'le="+Inf"'),
      line('_sum', histogram.sample_sum),
      line('_count', histogram.sample_count),
    ];
  });
  return [`# TYPE ${name} ${type.toLowerCase()}`, ...lines];
}

/** Text has more digits than there are in the number. */
const shorten = (line: string): string =>
  line.replace(/(_sum\{.*\}) (.*)$/, (_, head: string, sum: string) => `${head} ${Number(sum)}`);

async function startWithTraffic(t: Parameters<typeof startProxy>[0]): Promise<string> {
  const routes = [says('/yes', 'yes'), toCluster('/', 'closed')];
  const proxy = await startProxy(t, {
    ...webBootstrap(routes, { closed: 1, 'other.one': 1 }),
    stats_flush_on_admin: true,
  });
  const url = await proxy.listenerUrl('web');
  for (let i = 0; i < REQUESTS; ++i) {
    await (await fetch(`${url}/yes`)).text();
    await (await fetch(url)).text();
  }
  return `${proxy.adminUrl}/stats/prometheus?filter=^(cluster|http.web)`;
}

test('metric families say what the text says', async (t) => {
  const url = await startWithTraffic(t);
  const text = (await get(url, [])).body.toString().trimEnd().split('\n');
  const { type, body } = await get(url, [MEDIA_TYPE]);

  assert.equal(type, MEDIA_TYPE);
  const families = familiesOf(body);
  assert.deepEqual(families.flatMap(linesOf), text.map(shorten));
  const answered = families.find(({ name }) => name === 'envoy_http_downstream_rq_total');
  assert.equal(answered?.metric[0]?.counter?.value, 2 * REQUESTS);
});

test('native histograms have every value, and buckets for each of their spans', async (t) => {
  const url = `${await startWithTraffic(t)}&histogram_buckets=prometheusnative`;
  const families = familiesOf((await get(url, [MEDIA_TYPE])).body);

  const histograms = families.flatMap(({ metric }) => metric.map(({ histogram }) => histogram));
  let recorded = 0;
  for (const histogram of histograms) {
    if (!histogram) continue;
    const { positive_delta, positive_span, sample_count, zero_count, bucket } = histogram;
    assert.deepEqual(bucket, []);
    let inBucket = 0;
    let inAll = zero_count;
    for (const delta of positive_delta) inAll += inBucket += delta;
    assert.equal(inAll, sample_count);
    const spanned = positive_span.reduce((sum, { length }) => sum + length, 0);
    assert.equal(spanned, positive_delta.length);
    recorded += sample_count;
  }
  assert.ok(recorded > 0);
});

test('all accept lines count in their order, and HEAD is told the same type', async (t) => {
  const url = await startWithTraffic(t);
  const isProtobuf = async (...accept: readonly string[]): Promise<boolean> =>
    (await get(url, accept)).type === MEDIA_TYPE;

  assert.equal(await isProtobuf('application/json', MEDIA_TYPE), true);
  assert.equal(await isProtobuf('', MEDIA_TYPE, 'text/plain'), true);
  assert.equal(await isProtobuf('text/plain', MEDIA_TYPE), false);
  assert.equal(await isProtobuf('*/*'), false);
  const head = await get(url, [MEDIA_TYPE], 'HEAD');
  assert.deepEqual([head.type, head.body.length], [MEDIA_TYPE, 0]);
});
