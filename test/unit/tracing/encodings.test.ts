// What collectors read: spans as the data plane hands them over, encoded, and read back by the official
// messages as protobufjs has them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { datadogTraces } from '../../../src/tracing/datadog-encoding.js';
import { otlpSpans } from '../../../src/tracing/otlp-spans.js';
import { skyWalkingSegment } from '../../../src/tracing/sky-walking-encoding.js';
import { FLAGS, readSpans, type SpanRecord } from '../../../src/tracing/span-record.js';
import { zipkinJson, zipkinProto } from '../../../src/tracing/zipkin-encoding.js';

const LOCAL = { nodeId: 'n', zone: 'z', serviceCluster: 'shop', address: '192.0.2.7', threads: 2 };
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const START_US = 1_700_000_000_000_123;

interface Told {
  readonly flags?: number;
  readonly name?: string;
  readonly state?: string;
  readonly high?: bigint;
  readonly tags?: readonly (readonly [name: string, value: string, type?: number])[];
  readonly events?: readonly (readonly [which: number, atUs: number])[];
}

/** As native/tracing/record.h writes it. */
function record(told: Told): Buffer {
  const parts: Buffer[] = [];
  const u32 = (value: number): void => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    parts.push(bytes);
  };
  const u64 = (value: bigint): void => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    parts.push(bytes);
  };
  const text = (value: string): void => {
    u32(Buffer.byteLength(value));
    parts.push(Buffer.from(value));
  };
  const { flags = FLAGS.server, tags = [], events = [] } = told;
  u32(1);
  u32(0);
  u32(flags);
  u64(told.high ?? 0n);
  u64(0x0102n);
  u64(0x0304n);
  u64(0x0506n);
  u64(BigInt(START_US));
  u64(1500n);
  for (const value of [told.name ?? 'work', told.state ?? '', 'peer:1', 'trace', 'segment', '']) {
    text(value);
  }
  u32(tags.length);
  for (const [name, value, type = 0] of tags) {
    parts.push(Buffer.from([type]));
    text(name);
    text(value);
  }
  u32(events.length);
  for (const [which, atUs] of events) {
    parts.push(Buffer.from([which]));
    u64(BigInt(atUs));
  }
  const body = Buffer.concat(parts);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length);
  return Buffer.concat([size, body]);
}

const spansOf = (...told: readonly Told[]): SpanRecord[] => [
  ...readSpans(Buffer.concat(told.map(record))),
];

const OTLP = protobuf
  .parse(
    `
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Scope { string name = 1; string version = 2; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
  message Event { fixed64 time_unix_nano = 1; string name = 2; }
  message Status { string message = 2; uint32 code = 3; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
    uint32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Event events = 11; Status status = 15; fixed32 flags = 16;
  }`,
    { keepCase: true },
  )
  .root.lookupType('Request');

function readOtlp(bytes: Uint8Array): any {
  return OTLP.toObject(OTLP.decode(bytes), { longs: String, bytes: Buffer });
}

test('OpenTelemetry reads spans with their times, attributes, events and what became of them', () => {
  const spans = spansOf(
    {
      high: 1n,
      flags: FLAGS.server | FLAGS.hasParent | FLAGS.remoteParent,
      state: 'a=b',
      tags: [
        ['http.status_code', '500'],
        ['count', '7', 1],
        ['share', '0.5', 2],
        ['is', 'true', 3],
        ['odd', 'x7', 1],
        ['http.status_code', '503'],
      ],
      events: [[0, START_US + 5]],
    },
    { flags: FLAGS.child | FLAGS.hasParent, tags: [['http.status_code', '404']] },
    { tags: [['http.status_code', '404']] },
  );
  const settings = { attributes: { 'service.name': 'shop' }, hasScope: true };
  const [resource] = readOtlp(otlpSpans(spans, LOCAL, settings)).resource_spans;
  assert.deepEqual(resource.resource.attributes, [
    { key: 'service.name', value: { string_value: 'shop' } },
  ]);
  assert.equal(resource.scope_spans[0].scope.name, 'envoy');
  const [own, child, missed] = resource.scope_spans[0].spans;
  assert.equal(hex(own.trace_id), '00000000000000010000000000000102');
  assert.equal(hex(own.span_id), '0000000000000304');
  assert.equal(hex(own.parent_span_id), '0000000000000506');
  assert.equal(own.trace_state, 'a=b');
  assert.equal(own.start_time_unix_nano, `${START_US}000`);
  assert.equal(own.end_time_unix_nano, `${START_US + 1500}000`);
  assert.equal(own.flags, 0x301);
  assert.deepEqual(own.status, { code: 2 });
  assert.deepEqual(own.attributes, [
    { key: 'node_id', value: { string_value: 'n' } },
    { key: 'zone', value: { string_value: 'z' } },
    { key: 'http.status_code', value: { string_value: '503' } },
    { key: 'count', value: { int_value: '7' } },
    { key: 'share', value: { double_value: 0.5 } },
    { key: 'is', value: { bool_value: true } },
    { key: 'odd', value: { string_value: 'x7' } },
  ]);
  assert.deepEqual(own.events, [
    { time_unix_nano: `${START_US + 5}000`, name: 'last_downstream_rx_byte_received' },
  ]);
  assert.equal(own.kind, 2);
  assert.equal(child.kind, 3);
  assert.deepEqual(child.status, { code: 2 }, 'a client is told of its own faults');
  assert.equal(missed.status, undefined);
});

test('without attributes and scope OpenTelemetry hears of neither', () => {
  const bytes = otlpSpans(spansOf({}), LOCAL, { attributes: {}, hasScope: false });
  const [resource] = readOtlp(bytes).resource_spans;
  assert.equal(resource.resource, undefined);
  assert.equal(resource.scope_spans[0].scope, undefined);
});

test('Zipkin reads JSON', () => {
  const [span] = JSON.parse(
    zipkinJson(
      spansOf({
        tags: [
          ['a', 'b'],
          ['empty', ''],
        ],
        events: [[5, START_US + 3]],
      }),
      LOCAL,
      true,
    ).toString(),
  ) as [object];
  assert.deepEqual(span, {
    traceId: '0000000000000102',
    id: '0000000000000304',
    kind: 'SERVER',
    name: 'work',
    timestamp: START_US,
    duration: 1500,
    localEndpoint: { ipv4: '192.0.2.7', port: 0, serviceName: 'shop' },
    shared: true,
    annotations: [
      { value: 'first_downstream_tx_byte_sent', timestamp: START_US + 3 },
      { value: 'ss', timestamp: START_US + 1500 },
    ],
    tags: { node_id: 'n', zone: 'z', a: 'b' },
  });
});

test('Zipkin reads protobuf', () => {
  const list = protobuf
    .parse(
      `
    syntax = "proto3";
    message List { repeated Span spans = 1; }
    message Endpoint { string service_name = 1; bytes ipv4 = 2; bytes ipv6 = 3; int32 port = 4; }
    message Annotation { fixed64 timestamp = 1; string value = 2; }
    message Span {
      bytes trace_id = 1; bytes parent_id = 2; bytes id = 3; uint32 kind = 4; string name = 5;
      fixed64 timestamp = 6; uint64 duration = 7; Endpoint local_endpoint = 8;
      repeated Annotation annotations = 10; map<string, string> tags = 11; bool shared = 13;
    }`,
      { keepCase: true },
    )
    .root.lookupType('List');
  const flags = FLAGS.child | FLAGS.hasParent;
  const bytes = zipkinProto(spansOf({ high: 9n, flags, tags: [['a', 'b']] }), LOCAL, true);
  const { spans } = list.toObject(list.decode(bytes), { longs: Number, bytes: Buffer }) as {
    spans: any[];
  };
  assert.equal(hex(spans[0].trace_id), '00000000000000090000000000000102');
  assert.equal(hex(spans[0].parent_id), '0605000000000000');
  assert.equal(spans[0].kind, 1);
  assert.equal(spans[0].timestamp, START_US);
  assert.equal(spans[0].duration, 1500);
  assert.deepEqual([...spans[0].local_endpoint.ipv4], [192, 0, 2, 7]);
  assert.deepEqual(spans[0].tags, { a: 'b' });
  assert.equal(spans[0].shared, undefined);
  assert.deepEqual(spans[0].annotations, [{ timestamp: START_US + 1500, value: 'cr' }]);
});

test('SkyWalking reads a segment, and who its parent is', () => {
  const segment = protobuf
    .parse(
      `
    syntax = "proto3";
    message Segment {
      string traceId = 1; string traceSegmentId = 2; repeated Span spans = 3; string service = 4;
      string serviceInstance = 5;
    }
    message Reference {
      uint32 refType = 1; string traceId = 2; string parentTraceSegmentId = 3; int32 parentSpanId = 4;
      string parentService = 5; string parentServiceInstance = 6; string parentEndpoint = 7;
      string networkAddressUsedAtPeer = 8;
    }
    message Pair { string key = 1; string value = 2; }
    message Span {
      int32 spanId = 1; int32 parentSpanId = 2; int64 startTime = 3; int64 endTime = 4;
      repeated Reference refs = 5; string operationName = 6; string peer = 7; uint32 spanType = 8;
      uint32 spanLayer = 9; int32 componentId = 10; bool isError = 11; repeated Pair tags = 12;
    }`,
    )
    .root.lookupType('Segment');
  const state = '1-MQ==-NQ==-3-bWVzaA==-aW5zdGFuY2U=-L2FwaQ==-YS50ZXN0OjgwODA=';
  const plan = { serviceName: 's', instanceName: 'i' } as Parameters<typeof skyWalkingSegment>[2];
  const bytes = skyWalkingSegment(
    spansOf(
      { flags: FLAGS.server | FLAGS.hasParent, state, tags: [['error', 'true']] },
      { flags: FLAGS.child },
    ),
    LOCAL,
    plan,
  );
  const read = segment.toObject(segment.decode(bytes), { longs: Number }) as any;
  assert.equal(read.traceSegmentId, 'segment');
  const [own, exit] = read.spans;
  assert.deepEqual(own.refs, [
    {
      traceId: '1',
      parentTraceSegmentId: '5',
      parentSpanId: 3,
      parentService: 'mesh',
      parentServiceInstance: 'instance',
      parentEndpoint: '/api',
      networkAddressUsedAtPeer: 'a.test:8080',
    },
  ]);
  assert.equal(own.parentSpanId, -1);
  assert.equal(own.isError, true);
  assert.equal(exit.spanType, 1);
  assert.equal(exit.peer, 'peer:1');
});

test('Datadog’s agent reads lists of the spans of each trace', () => {
  const plan = { service: 'shop', env: '', version: '1' } as Parameters<typeof datadogTraces>[2];
  const bytes = Buffer.from(datadogTraces([spansOf({ tags: [['a', 'b']] })], LOCAL, plan));
  assert.equal(bytes.readUInt8(0), 0xdd);
  assert.equal(bytes.readUInt32BE(1), 1);
  assert.equal(bytes.readUInt8(10), 0xdf);
  assert.equal(bytes.readUInt32BE(11), 12);
  assert.ok(bytes.includes('envoy.proxy'));
  assert.ok(bytes.includes('_sampling_priority_v1'));
});
