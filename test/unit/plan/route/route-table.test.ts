import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  HeaderAddition_Action,
  HostRewrite_Kind,
  PathRewrite_Kind,
  RouteMatch_PathKind,
} from '../../../../src/plan/plan.gen.js';
import {
  compile,
  compileOneRoute,
  compileStatic,
  connectionManager,
  issuesOf,
  listenerOf,
  socketAddress,
} from '../helpers.js';
import { folderOf } from '../../support/folder.js';

const toOrigin = { route: { cluster: 'origin' } };

test('a route to a cluster has the defaults of the real server', () => {
  const { route, issues } = compileOneRoute(toOrigin);
  assert.deepEqual(issues, []);
  assert.equal(route?.match?.path, '/');
  assert.equal(route?.match?.path_kind, RouteMatch_PathKind.PREFIX);
  assert.equal(route?.cluster?.cluster, 'origin');
  assert.equal(route?.cluster?.timeout_ms, 15_000);
  assert.equal(route?.cluster?.idle_timeout_ms, undefined);
  assert.equal(route?.cluster?.not_found, 0);
});

test('a timeout of 0 is told from none', () => {
  const { route } = compileOneRoute({ route: { cluster: 'origin', timeout: 0, idle_timeout: 0 } });
  assert.equal(route?.cluster?.timeout_ms, 0);
  assert.equal(route?.cluster?.idle_timeout_ms, 0);
});

test('the time for last bytes is the route’s own, where it has one', () => {
  const { route: one } = compileOneRoute({ route: { cluster: 'origin', flush_timeout: 250 } });
  const { route: none } = compileOneRoute({ route: { cluster: 'origin' } });
  assert.equal(one?.cluster?.flush_timeout_ms, 250);
  assert.equal(none?.cluster?.flush_timeout_ms, undefined);
});

test('an unknown cluster is an error with the nearest name', () => {
  assert.deepEqual(compileOneRoute({ route: { cluster: 'orgin' } }).issues, [
    "error routes[0].route.cluster: route: unknown cluster 'orgin' (origin?)",
  ]);
});

test('validate_clusters: false lets clusters come later', () => {
  assert.deepEqual(
    compileOneRoute({ route: { cluster: 'later' } }, { validate_clusters: false }).issues,
    [],
  );
});

test('weights add up; none at all is an error', () => {
  const weighted = (...weights: number[]) => ({
    route: {
      weighted_clusters: { clusters: weights.map((weight) => ({ name: 'origin', weight })) },
    },
  });
  assert.equal(compileOneRoute(weighted(3, 7)).route?.cluster?.weighted?.clusters?.length, 2);
  assert.deepEqual(compileOneRoute(weighted(0, 0)).issues, [
    'error routes[0].route.weighted_clusters: Sum of weights in the weighted_cluster must be greater than 0.',
  ]);
  const unknown = { route: { weighted_clusters: { clusters: [{ name: 'nowhere', weight: 1 }] } } };
  assert.match(compileOneRoute(unknown).issues.join(), /route: unknown weighted cluster 'nowhere'/);
});

test('runtime weights take the place of the configured ones', () => {
  const clusters = [
    { name: 'a', weight: 50 },
    { name: 'b', weight: 50 },
  ];
  const action = { weighted_clusters: { clusters, runtime_key_prefix: 'split' } };
  const hosts = [
    { name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, route: action }] },
  ];
  const compiled = compile({
    layered_runtime: {
      layers: [{ name: 'static', static_layer: { split: { a: 90 }, 'split.b': 10 } }],
    },
    static_resources: {
      clusters: [{ name: 'a' }, { name: 'b' }],
      listeners: [listenerOf(connectionManager({ virtual_hosts: hosts }))],
    },
  });
  const route = compiled.update.route_tables?.[0]?.virtual_hosts?.[0]?.routes?.[0];
  assert.deepEqual(
    route?.cluster?.weighted?.clusters?.map(({ weight }) => weight),
    [90, 10],
  );
});

test('each kind of path is told apart', () => {
  const kindOf = (match: object) => {
    const { match: plan } = compileOneRoute({ match, ...toOrigin }).route ?? {};
    return [plan?.path_kind, plan?.path ?? plan?.regex?.pattern];
  };
  assert.deepEqual(kindOf({ path: '/a' }), [RouteMatch_PathKind.EXACT, '/a']);
  assert.deepEqual(kindOf({ path_separated_prefix: '/a' }), [
    RouteMatch_PathKind.SEPARATED_PREFIX,
    '/a',
  ]);
  assert.deepEqual(kindOf({ safe_regex: { regex: '/a+' } }), [RouteMatch_PathKind.REGEX, '/a+']);
  assert.deepEqual(kindOf({ connect_matcher: {} }), [RouteMatch_PathKind.CONNECT, undefined]);
});

test("a pattern that is wrong is refused in RE2's words", () => {
  const { issues } = compileOneRoute({ match: { safe_regex: { regex: 'a((' } }, ...toOrigin });
  assert.equal(issues.length, 1);
  assert.match(
    issues[0]!,
    /^error routes\[0\]\.match\.safe_regex\.regex: missing (closing )?\): a\(\($/,
  );
});

test('a runtime fraction counts in millionths, and a runtime key may change it', () => {
  const fractionOf = (runtime_fraction: object) =>
    compileOneRoute({ match: { prefix: '/', runtime_fraction }, ...toOrigin }).route?.match
      ?.runtime_fraction_millionths;
  assert.equal(fractionOf({ default_value: { numerator: 25 } }), 250_000);
  assert.equal(fractionOf({ default_value: { numerator: 7, denominator: 'MILLION' } }), 7);
  assert.equal(fractionOf({ default_value: { numerator: 300 } }), 1_000_000);
  assert.equal(fractionOf({}), 0);
});

test('a redirect names its status; prefix and regex rewrite the path', () => {
  const { route } = compileOneRoute({
    redirect: {
      host_redirect: 'new.test',
      response_code: 'TEMPORARY_REDIRECT',
      prefix_rewrite: '/p',
    },
  });
  assert.equal(route?.redirect?.status, 307);
  assert.equal(route?.redirect?.host, 'new.test');
  assert.deepEqual(route?.redirect?.path_rewrite, { kind: PathRewrite_Kind.PREFIX, value: '/p' });
  assert.equal(compileOneRoute({ redirect: {} }).route?.redirect?.status, 301);
});

test('two rewrites of one path are refused', () => {
  const rewrites = {
    prefix_rewrite: '/x',
    regex_rewrite: { pattern: { regex: 'a' }, substitution: 'b' },
  };
  assert.deepEqual(compileOneRoute({ route: { cluster: 'origin', ...rewrites } }).issues, [
    'error routes[0].route: Specify only one of prefix_rewrite, regex_rewrite or path_rewrite_policy',
  ]);
  const formatted = { cluster: 'origin', prefix_rewrite: '/x', path_rewrite: '/y' };
  assert.match(compileOneRoute({ route: formatted }).issues.join(), /Specify only one of/);
});

test('a substitution of a group that the pattern does not have is a warning', () => {
  const rewrite = (substitution: string) => ({
    route: { cluster: 'origin', regex_rewrite: { pattern: { regex: '/(a)' }, substitution } },
  });
  assert.deepEqual(compileOneRoute(rewrite('/\\1\\\\')).issues, []);
  assert.deepEqual(compileOneRoute(rewrite('/\\2')).issues, [
    'warning routes[0].route.regex_rewrite.substitution: nothing will ever be replaced: the pattern has no group 2',
  ]);
});

test('host rewrites: a literal, a header, or the chosen host', () => {
  const rewriteOf = (fields: object) =>
    compileOneRoute({ route: { cluster: 'origin', ...fields } }).route?.cluster?.host_rewrite;
  assert.deepEqual(rewriteOf({ host_rewrite_literal: 'a.test', append_x_forwarded_host: true }), {
    kind: HostRewrite_Kind.LITERAL,
    value: 'a.test',
    append_x_forwarded_host: true,
  });
  assert.equal(rewriteOf({ host_rewrite_header: 'X-Host' })?.value, 'x-host');
  assert.equal(rewriteOf({ auto_host_rewrite: true })?.kind, HostRewrite_Kind.AUTO);
  assert.equal(rewriteOf({}), undefined);
});

test('the body of a direct response may be a file, and may not be too long', (context) => {
  const folder = folderOf(context);
  const filename = join(folder, 'page.html');
  writeFileSync(filename, 'hello');
  const respond = (body: object) => compileOneRoute({ direct_response: { status: 200, body } });
  assert.equal(
    Buffer.from(respond({ filename }).route?.direct_response?.body ?? []).toString(),
    'hello',
  );
  assert.deepEqual(respond({ filename: `${filename}.gone` }).issues, [
    `error routes[0].direct_response.body.filename: file ${filename}.gone does not exist`,
  ]);
  const watched = { watched_directory: { path: folder } };
  const followed = respond({ filename, ...watched }).route?.direct_response?.format;
  const [piece] = followed?.format?.pieces ?? [];
  assert.equal(Buffer.from(piece?.live_text?.value ?? []).toString(), 'hello');
  assert.equal(followed?.content_type, 'text/plain');
  const gone = { watched_directory: { path: `${folder}/gone` } };
  assert.match(respond({ filename, ...gone }).issues.join(), /unable to add filesystem watch/);
  assert.deepEqual(respond({ inline_string: 'hello', ...watched }).issues, []);
  assert.deepEqual(respond({ inline_string: 'x'.repeat(5000) }).issues, [
    'error routes[0].direct_response.body: response body size is 5000 bytes; maximum is 4096',
  ]);
});

test('words of before in formats of headers are told of, each time', () => {
  const value = '%PER_REQUEST_STATE(a)% %DYNAMIC_METADATA(["a","b"])% %UPSTREAM_METADATA(["a"])%';
  const { issues, route } = compileOneRoute({
    ...toOrigin,
    request_headers_to_add: [{ header: { key: 'x', value } }],
  });
  const at = 'warning routes[0].request_headers_to_add[0].header.value:';
  assert.deepEqual(issues, [
    `${at} %PER_REQUEST_STATE(a)% is deprecated`,
    `${at} %DYNAMIC_METADATA(["a","b"])% is deprecated`,
    `${at} %UPSTREAM_METADATA(["a"])% is deprecated`,
  ]);
  const now = '%FILTER_STATE(a:PLAIN)% %DYNAMIC_METADATA(a:b)% %UPSTREAM_METADATA(a)%';
  const same = compileOneRoute({
    ...toOrigin,
    request_headers_to_add: [{ header: { key: 'x', value: now } }],
  });
  assert.deepEqual(same.issues, []);
  assert.deepEqual(route?.mutations, same.route?.mutations);
});

test('headers are added in four ways, and the older append means two of them', () => {
  const actionOf = (option: object) =>
    compileOneRoute({
      ...toOrigin,
      request_headers_to_add: [{ header: { key: 'X-A', value: 'b' }, ...option }],
    }).route?.mutations?.request_add?.[0];
  assert.equal(actionOf({})?.action, HeaderAddition_Action.APPEND);
  assert.equal(actionOf({})?.name, 'x-a');
  assert.equal(actionOf({ append: false })?.action, HeaderAddition_Action.OVERWRITE_OR_ADD);
  assert.equal(
    actionOf({ append_action: 'OVERWRITE_IF_EXISTS' })?.action,
    HeaderAddition_Action.OVERWRITE_IF_EXISTS,
  );
});

test('a path, a host or nonsense in a format cannot be added', () => {
  const issuesFor = (key: string, value: string) =>
    compileOneRoute({ ...toOrigin, request_headers_to_add: [{ header: { key, value } }] }).issues;
  const at = 'error routes[0].request_headers_to_add[0].header';
  assert.deepEqual(issuesFor(':path', 'x'), [
    `${at}.key: :-prefixed or host headers may not be modified`,
  ]);
  assert.deepEqual(issuesFor('Host', 'x'), [
    `${at}.key: :-prefixed or host headers may not be modified`,
  ]);
  assert.deepEqual(issuesFor('x', '50% off'), [
    `${at}.value: Incorrect configuration: 50% off. Couldn't find valid command at position 2 (%%?)`,
  ]);
});

test("a route's own metadata is text by the time it is compiled", () => {
  const { route } = compileOneRoute({
    ...toOrigin,
    metadata: { filter_metadata: { kit: { key: 'value', deep: { er: [1, 'two'] } } } },
    request_headers_to_add: [
      { header: { key: 'a', value: '%METADATA(ROUTE:kit:key)%!' } },
      { header: { key: 'b', value: '%METADATA(ROUTE:kit:deep)%' } },
    ],
  });
  const texts = route?.mutations?.request_add?.map(({ value }) => value?.pieces?.[0]?.argument);
  assert.deepEqual(texts, ['value!', '{"er":[1,"two"]}']);
});

test('domains belong to one virtual host, whatever their case', () => {
  const hosts = [
    { name: 'v', domains: ['a.test', '*'] },
    { name: 'w', domains: ['A.test', '*'] },
  ];
  const compiled = compileStatic({
    listeners: [listenerOf(connectionManager({ name: 'rc', virtual_hosts: hosts }))],
  });
  assert.deepEqual(
    compiled.issues.map(({ message }) => message),
    [
      'Only unique values for domains are permitted. Duplicate entry of domain a.test in route rc',
      'Only a single wildcard domain is permitted in route rc',
    ],
  );
  assert.deepEqual(compiled.update.route_tables?.[0]?.virtual_hosts?.[1]?.domains, ['a.test', '*']);
});

test('tables of the same name in two listeners stay two tables', () => {
  const table = { name: 'local', virtual_hosts: [] };
  const compiled = compileStatic({
    listeners: [
      listenerOf(connectionManager(table)),
      listenerOf(connectionManager(table), { name: 'other', address: socketAddress(2) }),
    ],
  });
  assert.deepEqual(issuesOf(compiled), []);
  const names = compiled.update.listeners?.map(
    (listener) => listener.filter_chains?.[0]?.http?.route_table,
  );
  assert.deepEqual(names, ['local', 'local#2']);
  assert.deepEqual(
    compiled.update.route_tables?.map(({ name }) => name),
    names,
  );
});

test('internal redirects are of 302 and one at most, unless more is said', () => {
  const redirectOf = (route: object) =>
    compileOneRoute({ route: { cluster: 'origin', ...route } }).route?.cluster?.internal_redirect;
  const plain = redirectOf({ internal_redirect_policy: {} });
  assert.deepEqual(plain?.statuses, [302]);
  assert.equal(plain?.max_redirects, 1);
  const codes = { redirect_response_codes: [301, 304, 308], max_internal_redirects: 3 };
  const more = redirectOf({ internal_redirect_policy: codes });
  assert.deepEqual([more?.statuses, more?.max_redirects], [[301, 308], 3]);
  const older = { internal_redirect_action: 'HANDLE_INTERNAL_REDIRECT' };
  assert.deepEqual(redirectOf(older)?.statuses, [302]);
  assert.equal(redirectOf({}), undefined);
});

test('a predicate that nobody knows, and a header that cannot be copied, are refused', () => {
  const policy = {
    predicates: [{ name: 'p', typed_config: { $type: 'a.Nobody' } }],
    response_headers_to_copy: [':path'],
  };
  const { issues } = compileOneRoute({
    route: { cluster: 'origin', internal_redirect_policy: policy },
  });
  assert.match(issues.join('\n'), /:-prefixed headers or Hosts may not be specified here/);
  assert.match(issues.join('\n'), /Didn't find a registered implementation for 'p'/);
});

test('a template of a path is rewritten by its variables', () => {
  const rewritten = (path_template: string, path_template_rewrite: string) =>
    compileOneRoute({
      match: {
        path_match_policy: {
          name: 'm',
          typed_config: {
            $type: 'envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig',
            path_template,
          },
        },
      },
      route: {
        cluster: 'origin',
        path_rewrite_policy: {
          name: 'r',
          typed_config: {
            $type: 'envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig',
            path_template_rewrite,
          },
        },
      },
    });
  const { route, issues } = rewritten('/t/{a}/{b=**}', '/{b}/x/{a}');
  assert.deepEqual(issues, []);
  assert.equal(route?.match?.path_kind, RouteMatch_PathKind.REGEX);
  assert.equal(route?.cluster?.path_rewrite?.regex?.substitution, '/\\2/x/\\1');
  assert.match(rewritten('/t/{a}', '/{c}').issues.join(), /mismatch between variables/);
  assert.match(rewritten('/t/{a}', 'no').issues.join(), /is invalid/);
});

test('a tree of matchers leads to a route or to several, in place of routes', () => {
  const action = (type: string, fields: object) => ({
    action: { name: 'r', typed_config: { $type: `envoy.config.route.v3.${type}`, ...fields } },
  });
  const all = { match: { prefix: '/' }, direct_response: { status: 200 } };
  const matcher = {
    matcher_tree: {
      input: {
        name: 'i',
        typed_config: {
          $type: 'envoy.type.matcher.v3.HttpRequestHeaderMatchInput',
          header_name: 'q',
        },
      },
      prefix_match_map: {
        map: { a: action('Route', all), b: action('RouteList', { routes: [all, all] }) },
      },
    },
  };
  const manager = connectionManager({
    virtual_hosts: [{ name: 'v', domains: ['*'], matcher }],
  });
  const result = compileStatic({ listeners: [listenerOf(manager)] });
  assert.deepEqual(issuesOf(result), []);
  const tree = result.update.route_tables?.[0]?.virtual_hosts?.[0]?.tree;
  assert.deepEqual(
    tree?.lists?.map(({ routes }) => routes?.length),
    [1, 2],
  );
});

test('a route may say its cluster by a tree that the table has under a name', () => {
  const specifiers = 'envoy.extensions.router.cluster_specifiers.matcher.v3';
  const choice = { $type: `${specifiers}.ClusterAction`, cluster: 'origin' };
  const named = {
    extension: {
      name: 'tree',
      typed_config: {
        $type: `${specifiers}.MatcherClusterSpecifier`,
        cluster_matcher: { on_no_match: { action: { name: 'c', typed_config: choice } } },
      },
    },
  };
  const compiled = (cluster_specifier_plugin: string) => {
    const routes = [{ match: { prefix: '/' }, route: { cluster_specifier_plugin } }];
    const manager = connectionManager({
      cluster_specifier_plugins: [named],
      virtual_hosts: [{ name: 'v', domains: ['*'], routes }],
    });
    return compileStatic({ listeners: [listenerOf(manager)] });
  };
  const known = compiled('tree');
  assert.deepEqual(issuesOf(known), []);
  const [host] = known.update.route_tables?.[0]?.virtual_hosts ?? [];
  assert.deepEqual(host?.routes?.[0]?.cluster?.tree_clusters, ['origin']);
  const words = /Unknown cluster specifier plugin name: none is used in the route/;
  assert.match(issuesOf(compiled('none')).join(), words);
});

function compileScopes(
  scopes: readonly object[],
  extractor: object = { index: 0 },
): ReturnType<typeof compileStatic> {
  const manager = connectionManager(
    {},
    {
      route_config: undefined,
      scoped_routes: {
        name: 's',
        scope_key_builder: {
          fragments: [{ header_value_extractor: { name: 'X-Scope', ...extractor } }],
        },
        scoped_route_configurations_list: { scoped_route_configurations: scopes },
      },
    },
  );
  return compileStatic({ listeners: [listenerOf(manager)] });
}

const scope = (name: string): object => ({
  name,
  key: { fragments: [{ string_key: name }] },
  route_configuration: { name, virtual_hosts: [] },
});

test('scopes have tables of their own, each under its key', () => {
  const result = compileScopes([scope('a'), scope('b')]);
  assert.deepEqual(issuesOf(result), []);
  const { http } = result.update.listeners?.[0]?.filter_chains?.[0] ?? {};
  const table = result.update.route_tables?.find(({ name }) => name === http?.route_table);
  assert.equal(table?.scoped_routes?.fragments?.[0]?.header, 'x-scope');
  assert.deepEqual(table?.scoped_routes?.scopes, [
    { key: ['a'], route_table: 'a' },
    { key: ['b'], route_table: 'b' },
  ]);
});

test('the key of a scope says which part of a header it takes', () => {
  const issues = issuesOf(compileScopes([scope('a')], {})).join();
  assert.match(issues, /HeaderValueExtractor extract_type not set\.$/);
});

test('a scope of a list has its routes with it, and no others', () => {
  const problems = (fields: object): string =>
    issuesOf(compileScopes([{ ...scope('a'), ...fields }])).join();
  assert.match(
    problems({ route_configuration: undefined }),
    /You must specify a route_configuration with inline scoped routes\.$/,
  );
  const both = problems({ route_configuration_name: 'r' });
  assert.match(both, /route_configuration_name: Fetching routes via RDS .* is not supported/);
});
