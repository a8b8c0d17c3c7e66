import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Place } from '../../../../src/plan/message/place.js';
import { any, compileStatic, connectionManager, issuesOf, listenerOf } from '../../plan/helpers.js';
import { compiled } from './helpers.js';

const BUFFER = 'envoy.extensions.filters.http.buffer.v3.Buffer';
const SOURCE = { path_config_source: { path: '/dev/null' } };
const url = (type: string): string => `type.googleapis.com/${type}`;
const later = (discovery: object) => ({
  name: 'later',
  config_discovery: { config_source: SOURCE, type_urls: [url(BUFFER)], ...discovery },
});
const messages = (discovery: object): string => compiled([later(discovery)]).issues.join('\n');

test('a filter that comes later has a place in the chain, which is empty', () => {
  const { issues, filters } = compiled([later({})]);
  assert.deepEqual(issues, []);
  assert.equal(filters?.[0]?.name, 'later');
  assert.deepEqual(filters?.[0]?.discovered?.filter, []);
});

test('what nobody waits for begins with its default', () => {
  const { issues, filters } = compiled([
    later({
      default_config: any(BUFFER, { max_request_bytes: 7 }),
      apply_default_config_without_warming: true,
    }),
  ]);
  assert.deepEqual(issues, []);
  const [first] = filters?.[0]?.discovered?.filter ?? [];
  assert.deepEqual(first?.buffer, { max_request_bytes: 7 });
});

test('types that there are not and other defaults are refused', () => {
  assert.match(
    messages({ type_urls: [url('no.such.Type')] }),
    /Error: no factory found for a required type URL type\.googleapis\.com\/no\.such\.Type\./,
  );
  assert.match(
    messages({ apply_default_config_without_warming: true }),
    /Error: filter config later applied without warming but has no default config\./,
  );
  assert.match(
    messages({
      default_config: any('envoy.extensions.filters.http.cors.v3.Cors', {}),
    }),
    /Error: filter config has type URL \S+Cors but expect \S+Buffer\./,
  );
});

test('a router that comes later is told of with its chain, where it says anything', () => {
  const TYPE = 'envoy.extensions.filters.http.router.v3.Router';
  const discovery = { config_source: SOURCE, type_urls: [url(TYPE), url(BUFFER)] };
  const manager = connectionManager(
    { virtual_hosts: [] },
    { http_filters: [{ name: 'last', config_discovery: discovery }] },
  );
  const result = compileStatic({ listeners: [listenerOf(manager)] });
  assert.deepEqual(issuesOf(result), []);
  const http = result.update.listeners?.[0]?.filter_chains?.[0]?.http;
  assert.deepEqual(http?.router, { name: 'last' });
  const [stands] = http?.http_filters ?? [];
  assert.equal(stands?.discovered?.is_router, false);
  const [place] = result.discovered;
  const put = (fields: object) => place?.compile(any(TYPE, fields), Place.root([]))?.update();
  const told = put({ suppress_envoy_headers: true });
  assert.deepEqual(told?.discovered_filters, [{ id: stands?.discovered?.id, is_router: true }]);
  const [chain] = told?.changed_filter_chains ?? [];
  assert.equal(chain?.http?.router?.suppress_envoy_headers, true);
  assert.equal(put({ suppress_envoy_headers: true })?.changed_filter_chains, undefined);
  assert.deepEqual(place?.clear.update(), {
    discovered_filters: [{ id: stands?.discovered?.id, is_router: false }],
  });
  const issues: { readonly message: string }[] = [];
  const at = Place.root(issues as Parameters<typeof Place.root>[0]);
  assert.equal(place?.compile(any(BUFFER, { max_request_bytes: 7 }), at), undefined);
  assert.match(issues[0]?.message ?? '', /non-terminal filter named last .* is the last filter/);
});
