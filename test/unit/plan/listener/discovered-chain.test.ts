import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Place } from '../../../../src/plan/message/place.js';
import { any, compileStatic, ECHO, issuesOf, socketAddress, HCM } from '../helpers.js';

const NETWORK = 'envoy.extensions.filters.network';
const RBAC = `${NETWORK}.rbac.v3.RBAC`;
const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';
const PROXY_PROTOCOL = 'envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol';
const url = (type: string): string => `type.googleapis.com/${type}`;
const later = (name: string, types: readonly string[], more: object = {}) => ({
  name,
  config_discovery: {
    config_source: { path_config_source: { path: '/dev/null' } },
    type_urls: types.map(url),
    ...more,
  },
});
const echo = { name: 'echo', typed_config: any(ECHO) };

function listener(filters: readonly object[], fields: object = {}) {
  const compiled = compileStatic({
    listeners: [
      { name: 'main', address: socketAddress(1), filter_chains: [{ filters }], ...fields },
    ],
  });
  const plan = compiled.update.listeners?.[0];
  return { compiled, issues: issuesOf(compiled), plan, chain: plan?.filter_chains?.[0] };
}

test('a chain that lacks a filter lets nobody through, and is told anew when it comes', () => {
  const { issues, chain, compiled } = listener([later('rules', [RBAC]), echo]);
  assert.deepEqual(issues, []);
  assert.deepEqual(chain?.guards, [{ lacks_filter: true }]);
  assert.ok((chain?.id ?? 0) > 0);
  const [place] = compiled.discovered;
  assert.equal(place?.kind, 'network_filter');
  const filling = place?.compile(any(RBAC, { stat_prefix: 'x' }), Place.root([]));
  const [changed, ...others] = filling?.update().changed_filter_chains ?? [];
  assert.deepEqual(others, []);
  assert.equal(changed?.id, chain?.id);
  assert.deepEqual(
    changed?.guards?.map(({ rbac }) => rbac?.stat_prefix),
    ['x'],
  );
  assert.deepEqual(changed?.echo, {});
  assert.deepEqual(place?.clear.update().changed_filter_chains?.[0]?.guards, [
    { lacks_filter: true },
  ]);
});

test('what comes has to be of a type that is named, and to stand where it may', () => {
  const { compiled } = listener([later('last', [ECHO, RBAC])]);
  const issues: { readonly message: string }[] = [];
  const at = Place.root(issues as Parameters<typeof Place.root>[0]);
  const [place] = compiled.discovered;
  assert.equal(place?.compile(any(RBAC, { stat_prefix: 'x' }), at), undefined);
  assert.equal(place?.compile(any(HCM), at), undefined);
  assert.deepEqual(
    issues.map(({ message }) => message),
    [
      'Error: non-terminal filter named last of type envoy.filters.network.rbac is the last filter in a network filter chain.',
      `Error: filter config has type URL ${url(HCM)} but expect ${url(ECHO)}, ${url(RBAC)}.`,
    ],
  );
});

test('a connection manager that comes later brings its routes, which leave with it', () => {
  const { compiled, issues, chain } = listener([later('http', [HCM])]);
  assert.deepEqual(issues, []);
  const [place] = compiled.discovered;
  const manager = (name: string) =>
    any(HCM, {
      stat_prefix: 'x',
      route_config: { name, virtual_hosts: [] },
      http_filters: [{ name: 'router', typed_config: any(ROUTER) }],
    });
  const first = place?.compile(manager('one'), Place.root([]));
  const told = first?.update();
  assert.deepEqual(
    told?.route_tables?.map(({ name }) => name),
    ['one'],
  );
  assert.equal(told?.changed_filter_chains?.[0]?.id, chain?.id);
  assert.equal(told?.changed_filter_chains?.[0]?.http?.route_table, 'one');
  assert.deepEqual(first?.onPlaced?.(), {});
  const dropped = place?.compile(manager('two'), Place.root([]));
  dropped?.onDropped?.();
  const second = place?.compile(manager('two'), Place.root([]));
  assert.equal(second?.update().route_tables?.[0]?.name, 'two');
  assert.deepEqual(second?.onPlaced?.(), { left_route_tables: ['one'] });
  assert.deepEqual(place?.onGone(), { left_route_tables: ['two'] });
});

test('types that there are not are refused', () => {
  assert.match(
    listener([later('none', ['no.such.Type'])]).issues.join(),
    /no factory found for a required type URL/,
  );
});

test('a default that nobody waits for stands there from the start', () => {
  const { chain, issues } = listener([
    later('echo', [ECHO], {
      default_config: any(ECHO),
      apply_default_config_without_warming: true,
    }),
  ]);
  assert.deepEqual(issues, []);
  assert.equal(chain?.guards, undefined);
  assert.deepEqual(chain?.echo, {});
});

test('a filter without a default, too, may be one that nobody waits for', () => {
  const { issues, compiled } = listener([
    later('echo', [ECHO], { apply_default_config_without_warming: true }),
  ]);
  assert.deepEqual(issues, []);
  assert.equal(compiled.discovered[0]?.needsNoWarming, true);
});

test('a listener filter that comes later has a place of its own', () => {
  const { plan, issues, compiled } = listener([echo], {
    listener_filters: [
      { ...later('proxy', [PROXY_PROTOCOL]), filter_disabled: { any_match: true } },
    ],
  });
  assert.deepEqual(issues, []);
  const [filter] = plan?.listener_filters ?? [];
  assert.deepEqual(filter?.discovered?.filter, []);
  assert.ok(filter?.disabled);
  const [place] = compiled.discovered;
  assert.equal(place?.kind, 'tcp_listener_filter');
  const filling = place?.compile(any(PROXY_PROTOCOL), Place.root([]));
  const [put] = filling?.update().discovered_listener_filters ?? [];
  assert.equal(put?.id, filter?.discovered?.id);
  assert.ok(put?.filter?.[0]?.proxy_protocol);
  assert.deepEqual(place?.clear.update().discovered_listener_filters?.[0]?.filter, []);
});
