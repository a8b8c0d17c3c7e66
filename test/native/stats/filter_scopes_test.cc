// Prefixes, metric prefixes and labels as the real server's pages show them (release 1.40).
#include "stats/filter_scopes.h"

#include "stats/scopes.h"
#include "test/native/stats/scope_text.h"
#include "test/native/test.h"

namespace fairlead::stats {

TEST("a downstream cluster's name is a label up to its first dot") {
  EXPECT_EQ(shown(faultClusterScope(httpScope("in"), "a b:c")),
            "http.in.fault.a b:c. http.fault. envoy.fault_downstream_cluster=a b:c "
            "envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(faultClusterScope(httpScope("in"), "a.b")),
            "http.in.fault.a.b. http.fault.b. envoy.fault_downstream_cluster=a "
            "envoy.http_conn_manager_prefix=in");
}

TEST("authorization by a service is labelled before its manager, and after its cluster") {
  EXPECT_EQ(shown(extAuthzScope(httpScope("in"), "")),
            "http.in.ext_authz. http.ext_authz. envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(extAuthzScope(httpScope("in"), "e.p")),
            "http.in.ext_authz.e.p. http.ext_authz.p. envoy.ext_authz_prefix=e "
            "envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(extAuthzScope(clusterScope("one"), "e")),
            "cluster.one.ext_authz.e. cluster.ext_authz. envoy.cluster_name=one "
            "envoy.ext_authz_prefix=e");
  EXPECT_EQ(shown(extAuthzScope(clusterScope("one.two"), "e")),
            "cluster.one.two.ext_authz.e. cluster.two.ext_authz.e. envoy.cluster_name=one");
}

TEST("sets of rules for access are labels, and policies of one token") {
  const Scope real = rbacScope(httpScope("in"), "real");
  EXPECT_EQ(shown(real),
            "http.in.rbac.real. http.rbac. envoy.rbac_http_prefix=real "
            "envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(rbacPolicyScope(real, "p")),
            "http.in.rbac.real.policy.p. http.rbac.policy. envoy.rbac_policy_name=p "
            "envoy.rbac_http_prefix=real envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(rbacPolicyScope(real, "p.q")),
            "http.in.rbac.real.policy.p.q. http.rbac.policy.p.q. envoy.rbac_http_prefix=real "
            "envoy.http_conn_manager_prefix=in");
  const Scope dotted = rbacScope(httpScope("in"), "r.p.");
  EXPECT_EQ(shown(rbacPolicyScope(dotted, "p")),
            "http.in.rbac.r.p.policy.p. http.rbac.p.policy.p. envoy.rbac_http_prefix=r "
            "envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(rbacScope(httpScope("a.b"), "r")),
            "http.a.b.rbac.r. http.b.rbac.r. envoy.http_conn_manager_prefix=a");
}

TEST("filters of connections are labelled by their prefixes") {
  EXPECT_EQ(shown(networkRbacScope("tcp.", "")), "tcp.rbac. rbac. envoy.rbac_prefix=tcp");
  EXPECT_EQ(shown(networkRbacScope("tcp", "dark")),
            "tcp.rbac.dark. rbac.dark. envoy.rbac_prefix=tcp");
  EXPECT_EQ(shown(networkRbacScope("a.b", "")), "a.b.rbac. a.b.rbac.");
  EXPECT_EQ(shown(networkRateLimitScope("x")), "ratelimit.x. ratelimit. envoy.ratelimit_prefix=x");
  EXPECT_EQ(shown(connectionLimitScope("x.y")),
            "connection_limit.x.y. connection_limit.y. envoy.connection_limit_prefix=x");
  EXPECT_EQ(shown(networkLocalRateLimitScope("x")),
            "local_rate_limit.x. local_rate_limit. envoy.local_network_ratelimit_prefix=x");
  EXPECT_EQ(shown(listenerLocalRateLimitScope("x")),
            "listener_local_ratelimit.x. listener_local_ratelimit. "
            "envoy.local_listener_ratelimit_prefix=x");
  EXPECT_EQ(shown(httpLocalRateLimitScope("x")),
            "x.http_local_rate_limit. http_local_rate_limit. envoy.local_http_ratelimit_prefix=x");
  EXPECT_EQ(shown(httpLocalRateLimitScope("x.y")),
            "x.y.http_local_rate_limit. x.y.http_local_rate_limit.");
}

TEST("a version of the PROXY protocol is a label behind one token at most") {
  EXPECT_EQ(shown(proxyProtocolVersionScope("p", 1)),
            "proxy_proto.p.versions.v1. proxy_proto. envoy.proxy_protocol_prefix=p "
            "envoy.proxy_protocol_version=1");
  EXPECT_EQ(shown(proxyProtocolVersionScope("p.q", 2)),
            "proxy_proto.p.q.versions.v2. proxy_proto.q.versions.v2. "
            "envoy.proxy_protocol_prefix=p");
}

}  // namespace fairlead::stats
