import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListenerPredicate_Kind as Kind } from '../../../../src/plan/plan.gen.js';
import { any, compileStatic, ECHO, issuesOf, listenerOf } from '../helpers.js';

const FILTERS = 'envoy.extensions.filters.listener';
const PROXY_PROTOCOL = `${FILTERS}.proxy_protocol.v3.ProxyProtocol`;

function listener(fields: object) {
  const compiled = compileStatic({ listeners: [listenerOf(any(ECHO), fields)] });
  return { issues: issuesOf(compiled), plan: compiled.update.listeners?.[0] };
}

function proxyProtocol(fields: object) {
  const listener_filters = [{ name: 'pp', typed_config: any(PROXY_PROTOCOL, fields) }];
  const { issues, plan } = listener({ listener_filters });
  return { issues, plan: plan?.listener_filters?.[0]?.proxy_protocol };
}

test('listener filters keep their order; they have 15 seconds unless told otherwise', () => {
  const listener_filters = [
    { name: 'o', typed_config: any(`${FILTERS}.original_dst.v3.OriginalDst`) },
    { name: 'p', typed_config: any(PROXY_PROTOCOL) },
    { name: 'h', typed_config: any(`${FILTERS}.http_inspector.v3.HttpInspector`) },
  ];
  const { plan, issues } = listener({ listener_filters });
  assert.deepEqual(issues, []);
  assert.deepEqual(
    plan?.listener_filters?.map((one) => Object.keys(one)[0]),
    ['original_dst', 'proxy_protocol', 'http_inspector'],
  );
  assert.equal(plan?.listener_filters_timeout_ms, 15_000);
  const timed = { listener_filters_timeout: 0, continue_on_listener_filters_timeout: true };
  assert.equal(listener(timed).plan?.listener_filters_timeout_ms, 0);
  assert.equal(listener(timed).plan?.continue_on_listener_filters_timeout, true);
});

test('so many connections of a listener pass in a time', () => {
  const type = `${FILTERS}.local_ratelimit.v3.LocalRateLimit`;
  const limited = (token_bucket: object) =>
    listener({
      listener_filters: [
        { name: 'l', typed_config: any(type, { stat_prefix: 'few', token_bucket }) },
      ],
    });
  const { plan, issues } = limited({ max_tokens: 3, fill_interval: 60_000 });
  assert.deepEqual(issues, []);
  const limit = plan?.listener_filters?.[0]?.local_rate_limit;
  assert.equal(limit?.stat_prefix, 'few');
  assert.equal(limit.max_tokens, 3);
  assert.equal(limit.tokens_per_fill, 1);
  assert.equal(limit.fill_interval_us, 60_000_000);
  const [tooFast] = limited({ max_tokens: 1, fill_interval: 10 }).issues;
  assert.match(tooFast ?? '', /fill timer must be >= 50ms/);
});

test('a listener may have no socket, and may hand on what the kernel redirected to it', () => {
  const { plan, issues } = listener({ bind_to_port: false, use_original_dst: true });
  assert.deepEqual(issues, []);
  assert.equal(plan?.unbound, true);
  assert.equal(plan?.hands_on_redirected, true);
  assert.deepEqual(plan?.listener_filters, [{ original_dst: {} }]);
  assert.equal(listener({ deprecated_v1: { bind_to_port: false } }).plan?.unbound, true);
  assert.equal(listener({ bind_to_port: true }).plan?.unbound, false);
});

test('what a predicate says in words becomes a tree', () => {
  const filter_disabled = {
    not_match: {
      or_match: {
        rules: [
          { destination_port_range: { start: -5, end: 80 } },
          { and_match: { rules: [{ any_match: true }, { any_match: true }] } },
        ],
      },
    },
  };
  const listener_filters = [{ name: 'p', typed_config: any(PROXY_PROTOCOL), filter_disabled }];
  const { plan, issues } = listener({ listener_filters });
  assert.deepEqual(issues, []);
  assert.deepEqual(plan?.listener_filters?.[0]?.disabled, {
    kind: Kind.NOT,
    rules: [
      {
        kind: Kind.OR,
        rules: [
          { kind: Kind.DESTINATION_PORT, port_begin: 0, port_end: 80 },
          { kind: Kind.AND, rules: [{ kind: Kind.ANY }, { kind: Kind.ANY }] },
        ],
      },
    ],
  });
});

test('rules of the PROXY protocol say where values go; one that does not keeps nothing', () => {
  const { plan, issues } = proxyProtocol({
    stat_prefix: 'edge',
    allow_requests_without_proxy_protocol: true,
    disallowed_versions: ['V1'],
    tlv_location: 'FILTER_STATE',
    rules: [
      { tlv_type: 2 },
      { tlv_type: 234, on_tlv_present: { key: 'aws', value_string_encoding: 'BASE64' } },
    ],
  });
  assert.deepEqual(issues, []);
  assert.deepEqual(plan, {
    stat_prefix: 'edge',
    allow_without: true,
    disallow_v1: true,
    disallow_v2: false,
    rules: [{ type: 234, metadata_namespace: undefined, key: 'aws', base64: true }],
    to_filter_state: true,
    passes_all_tlvs: false,
    passed_tlv_types: new Uint8Array(),
  });
});

test('a PROXY protocol without any version is refused', () => {
  assert.deepEqual(proxyProtocol({ disallowed_versions: ['V2', 'V1'] }).issues, [
    'error typed_config.disallowed_versions: ' +
      'Proxy Protocol filter is misconfigured: all proxy protocol versions are disallowed.',
  ]);
});

test('a listener filter that is not there yet is named, and what is none is not known', () => {
  const of = (type: string) =>
    listener({ listener_filters: [{ name: 'f', typed_config: any(type) }] }).issues.join();
  assert.match(
    of(`${FILTERS}.dynamic_modules.v3.DynamicModuleListenerFilter`),
    /the extension 'f' \(envoy\.extensions\.filters\.listener\.dynamic_modules\.v3\.DynamicModuleListenerFilter\) is not supported yet/,
  );
  assert.match(of(ECHO), /Didn't find a registered implementation for 'f' with type URL/);
});
