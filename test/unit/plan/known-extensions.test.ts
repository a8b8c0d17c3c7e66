import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIssue, type Issue } from '../../../src/config/issues/issue.js';
import { REGISTRY } from '../../../src/extensions/registry.js';
import { findExtension } from '../../../src/plan/extension.js';
import { isKnown, knownByName } from '../../../src/plan/known-extensions.js';
import { Place } from '../../../src/plan/message/place.js';

const KINDS = [
  'networkFilters',
  'httpFilters',
  'accessLoggers',
  'downstreamTransportSockets',
  'upstreamTransportSockets',
  'statSinks',
] as const;

test('every extension that is supported is one of the real server, by its name', () => {
  for (const kind of KINDS) {
    for (const { name, type } of REGISTRY[kind]) {
      assert.deepEqual(knownByName(kind, name), { name, type });
    }
  }
});

test('what is of another kind is not known; what routes say to a filter is', () => {
  const http = 'envoy.extensions.filters.http.';
  const tls = 'envoy.extensions.transport_sockets.tls.v3.';
  assert.ok(isKnown('httpFilters', `${http}lua.v3.Lua`));
  assert.ok(isKnown('httpFilters', `${http}lua.v3.LuaPerRoute`));
  assert.ok(!isKnown('networkFilters', `${http}lua.v3.Lua`));
  assert.ok(isKnown('statSinks', 'envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig'));
  assert.ok(!isKnown('statSinks', 'envoy.config.metrics.v3.StatsConfig'));
  assert.ok(isKnown('upstreamTransportSockets', `${tls}UpstreamTlsContext`));
  assert.ok(!isKnown('upstreamTransportSockets', `${tls}DownstreamTlsContext`));
});

test('an extension goes by the name that it had in v2, too', () => {
  const router = 'envoy.extensions.filters.http.router.v3.Router';
  assert.equal(knownByName('httpFilters', 'envoy.router')?.type, router);
  assert.equal(knownByName('httpFilters', 'envoy.filters.http.router')?.type, router);
  assert.equal(knownByName('networkFilters', 'envoy.router'), undefined);
});

test('a bare name is told what to write, and whether that would help', () => {
  const problemOf = (filter: object): string | undefined => {
    const issues: Issue[] = [];
    findExtension({ extensions: REGISTRY }, 'httpFilters', filter, Place.root(issues));
    return issues.map(formatIssue)[0];
  };
  const url = 'type.googleapis.com/envoy.extensions.filters.http.';
  const said = (name: string): string =>
    `Didn't find a registered implementation for '${name}' with type URL: ''; expected typed_config: {"@type": "${url}`;
  for (const name of ['envoy.filters.http.router', 'envoy.router'])
    assert.equal(problemOf({ name }), `${said(name)}router.v3.Router"}`);
  assert.equal(
    problemOf({ name: 'envoy.filters.http.geoip' }),
    `${said('envoy.filters.http.geoip')}geoip.v3.Geoip"}, which is not supported yet`,
  );
  assert.match(
    problemOf({ name: 'envoy.filters.http.rooter' }) ?? '',
    /with "@type" and a type URL; did you mean "envoy\.filters\.http\.router"\?$/,
  );
});
