import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compileOneRoute,
  compileStatic,
  connectionManager,
  issuesOf,
  listenerOf,
} from '../helpers.js';

const mirrorsOf = (...policies: object[]): ReturnType<typeof compileOneRoute> =>
  compileOneRoute({ route: { cluster: 'origin', request_mirror_policies: policies } });

test('a mirror gets all requests under a host of their own, unless it says otherwise', () => {
  const { route, issues } = mirrorsOf(
    { cluster: 'origin' },
    {
      cluster_header: 'X-To',
      runtime_fraction: { default_value: { numerator: 5 } },
      disable_shadow_host_suffix_append: true,
      host_rewrite_literal: 'copy.test',
      trace_sampled: false,
    },
  );
  assert.deepEqual(issues, []);
  assert.deepEqual(
    route?.cluster?.mirrors?.map((mirror) => [
      mirror.cluster,
      mirror.cluster_header,
      mirror.share_millionths,
      mirror.keeps_host ?? false,
      mirror.host ?? '',
    ]),
    [
      ['origin', '', 1_000_000, false, ''],
      ['', 'x-to', 50_000, true, 'copy.test'],
    ],
  );
});

test('a mirror names its cluster in one way, and one that there is', () => {
  assert.match(mirrorsOf({}).issues.join(), /Exactly one of cluster or cluster_header/);
  assert.match(
    mirrorsOf({ cluster: 'origin', cluster_header: 'x' }).issues.join(),
    /Only one of cluster or cluster_header/,
  );
  assert.match(
    mirrorsOf({ cluster: 'orgin' }).issues.join(),
    /route: unknown shadow cluster 'orgin' \(origin\?\)/,
  );
});

test('clusters of copies are looked for where a route has them', () => {
  const lost = { request_mirror_policies: [{ cluster: 'lost' }] };
  const found = { request_mirror_policies: [{ cluster: 'origin' }] };
  const problems = (table: object, host: object, route: object): number => {
    const hosts = [{ name: 'a', domains: ['*'], routes: [route, route], ...host }];
    const listeners = [listenerOf(connectionManager({ virtual_hosts: hosts, ...table }))];
    return issuesOf(compileStatic({ clusters: [{ name: 'origin' }], listeners })).length;
  };
  const match = { prefix: '/' };
  const plain = { match, route: { cluster: 'origin' } };
  assert.equal(problems(lost, {}, plain), 1);
  assert.equal(problems(lost, {}, { match, redirect: { path_redirect: '/a' } }), 1);
  assert.equal(problems(lost, found, plain), 0);
  assert.equal(problems({}, lost, plain), 1);
  assert.equal(problems({}, lost, { match, route: { cluster: 'origin', ...found } }), 0);
  assert.equal(problems({ ...lost, validate_clusters: false }, {}, plain), 0);
});

test('changes of the head of a copy are kept in their order; hosts and pseudo headers are not theirs', () => {
  const { route, issues } = mirrorsOf({
    cluster: 'origin',
    request_headers_mutations: [
      { remove: 'X-One' },
      { append: { header: { key: 'X-Two', value: '%REQ(a)%' }, append_action: 'ADD_IF_ABSENT' } },
      { remove_on_match: { key_matcher: { prefix: 'x-' } } },
    ],
  });
  assert.deepEqual(issues, []);
  const changes = route?.cluster?.mirrors?.[0]?.request_changes ?? [];
  assert.deepEqual(
    changes.map(({ remove, add, remove_matching: match }) => remove ?? add?.name ?? match?.value),
    ['x-one', 'x-two', 'x-'],
  );
  const refusals = mirrorsOf({
    cluster: 'origin',
    request_headers_mutations: [{ remove: ':path' }, { append: { header: { key: 'Host' } } }],
  }).issues.join('\n');
  assert.match(refusals, /\[0\]\.remove: :-prefixed or host headers may not be removed/);
  assert.match(
    refusals,
    /\[1\]\.append\.header\.key: :-prefixed or host headers may not be modified/,
  );
});

test('the most specific of route, virtual host and table that names mirrors counts', () => {
  const to = (cluster: string): object => ({ request_mirror_policies: [{ cluster }] });
  const routes = [
    { match: { prefix: '/own' }, route: { cluster: 'origin', ...to('one') } },
    { match: { prefix: '/' }, route: { cluster: 'origin' } },
  ];
  const compiled = compileStatic({
    clusters: ['origin', 'one', 'two', 'three'].map((name) => ({ name })),
    listeners: [
      listenerOf(
        connectionManager({
          ...to('three'),
          virtual_hosts: [
            { name: 'own', domains: ['a'], routes, ...to('two') },
            { name: 'plain', domains: ['*'], routes },
          ],
        }),
      ),
    ],
  });
  assert.deepEqual(issuesOf(compiled), []);
  const hosts = compiled.update.route_tables?.[0]?.virtual_hosts ?? [];
  assert.deepEqual(
    hosts.map((host) => host.routes?.map((route) => route.cluster?.mirrors?.[0]?.cluster)),
    [
      ['one', 'two'],
      ['one', 'three'],
    ],
  );
});
