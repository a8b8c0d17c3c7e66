import assert from 'node:assert/strict';
import { test } from 'node:test';
import { any, compile, compileStatic, issuesOf, socketAddress } from '../helpers.js';

const PACKAGE = 'envoy.extensions.network.dns_resolver';
const CARES = `${PACKAGE}.cares.v3.CaresDnsResolverConfig`;
const SYSTEM = `${PACKAGE}.getaddrinfo.v3.GetAddrInfoDnsResolverConfig`;
const DNS_CLUSTER = {
  name: 'a',
  type: 'STRICT_DNS' as const,
  load_assignment: {
    cluster_name: 'a',
    endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(80, 'a.test') } }] }],
  },
};
const compileDns = (fields: object) => compileStatic({ clusters: [{ ...DNS_CLUSTER, ...fields }] });
const resolverOf = (fields: object) => {
  const compiled = compileDns(fields);
  assert.deepEqual(issuesOf(compiled), []);
  return compiled.dnsClusters[0]?.resolver;
};

test('a cluster says who is asked for names: by its extension, or by older fields', () => {
  const servers = [socketAddress(5353, '192.0.2.1'), socketAddress(0, '::1')];
  const plan = {
    servers: ['192.0.2.1:5353', '[::1]:53'],
    areFallback: false,
    hasNoSearch: true,
    usesTcp: true,
  };
  const options = { no_default_search_domain: true, use_tcp_for_dns_lookups: true };
  const cares = any(CARES, {
    resolvers: servers,
    dns_resolver_options: options,
    query_timeout_seconds: 2,
    query_tries: 5,
  });
  assert.deepEqual(resolverOf({ typed_dns_resolver_config: { name: 'c', typed_config: cares } }), {
    ...plan,
    timeoutMs: 2000,
    tries: 5,
  });
  assert.deepEqual(
    resolverOf({ dns_resolution_config: { resolvers: servers, dns_resolver_options: options } }),
    plan,
  );
  assert.deepEqual(resolverOf({ dns_resolvers: servers })?.servers, plan.servers);
  assert.equal(resolverOf({}), undefined);
});

test("the system's own library may be asked; what is not understood is refused by its name", () => {
  const system = { name: 's', typed_config: any(SYSTEM) };
  assert.equal(resolverOf({ typed_dns_resolver_config: system })?.isOfSystem, true);
  const rotating = { name: 'c', typed_config: any(CARES, { rotate_nameservers: true }) };
  assert.match(
    issuesOf(compileDns({ typed_dns_resolver_config: rotating })).join(),
    /rotate_nameservers of .*CaresDnsResolverConfig is not supported yet/,
  );
  const apple = { name: 'a', typed_config: any(`${PACKAGE}.apple.v3.AppleDnsResolverConfig`) };
  assert.match(
    issuesOf(compileDns({ typed_dns_resolver_config: apple })).join(),
    /the extension 'a' .* is not supported yet/,
  );
});

test('a server that is no address is refused', () => {
  const servers = [socketAddress(53, 'dns.test')];
  assert.match(
    issuesOf(compileDns({ dns_resolvers: servers })).join(),
    /dns_resolvers\[0\]\.socket_address\.address: malformed IP address: dns\.test/,
  );
  const typed_config = any(CARES, { resolvers: servers });
  assert.match(
    issuesOf(compileDns({ typed_dns_resolver_config: { name: 'c', typed_config } })).join(),
    /malformed IP address: dns\.test/,
  );
});

test('a pipe of a cluster that asks DNS is taken, and is nobody', () => {
  const address = { pipe: { path: '/run/a.sock' } };
  const compiled = compileDns({
    load_assignment: {
      cluster_name: 'a',
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
  });
  assert.deepEqual(issuesOf(compiled), []);
  assert.equal(compiled.dnsClusters[0]?.endpoints[0]?.hostname, '');
});

test("the bootstrap's resolver is looked at once a cluster asks for it", () => {
  const rest = { dns_resolution_config: { resolvers: [socketAddress(53, 'dns.test')] } };
  assert.deepEqual(issuesOf(compile({ static_resources: {}, ...rest })), []);
  assert.match(
    issuesOf(compile({ static_resources: { clusters: [DNS_CLUSTER] }, ...rest })).join(),
    /malformed IP address: dns\.test \(the bootstrap's dns_resolution_config\.resolvers\[0\]/,
  );
});
