// Prefixes, metric prefixes and labels as the real server's pages show them (release 1.40).
#include "stats/scopes.h"

#include "test/native/stats/scope_text.h"
#include "test/native/test.h"

namespace fairlead::stats {

TEST("a cluster's name is a label up to its first dot; colons become underscores") {
  EXPECT_EQ(shown(clusterScope("be")), "cluster.be. cluster. envoy.cluster_name=be");
  EXPECT_EQ(shown(clusterScope("be.x.y")), "cluster.be.x.y. cluster.x.y. envoy.cluster_name=be");
  EXPECT_EQ(shown(clusterScope("a:b")), "cluster.a_b. cluster. envoy.cluster_name=a_b");
  EXPECT_EQ(shown(clusterScope("http://x/y")),
            "cluster.http_x/y. cluster. envoy.cluster_name=http_x/y");
  EXPECT_EQ(shown(zoneScope("c1", "za", "zb")),
            "cluster.c1.zone.za.zb. cluster.zone.za.zb. envoy.cluster_name=c1");
}

TEST("the dots at a name's end are lost; a name of dots alone is no label") {
  EXPECT_EQ(shown(clusterScope("ends..")), "cluster.ends. cluster. envoy.cluster_name=ends");
  EXPECT_EQ(shown(clusterScope("a.b.")), "cluster.a.b. cluster.b. envoy.cluster_name=a");
  EXPECT_EQ(shown(clusterScope("..")), "cluster. cluster.");
  EXPECT_EQ(shown(httpScope("in.")), "http.in. http. envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(listenerScope("10.0.0.1_80.")),
            "listener.10.0.0.1_80. listener. envoy.listener_address=10.0.0.1_80");
}

TEST("an address is one label, dots and all; another listener name ends at its first dot") {
  EXPECT_EQ(shown(listenerScope("127.0.0.1_80")),
            "listener.127.0.0.1_80. listener. envoy.listener_address=127.0.0.1_80");
  EXPECT_EQ(shown(listenerScope("[::1]_29813")),
            "listener.[__1]_29813. listener. envoy.listener_address=[__1]_29813");
  EXPECT_EQ(shown(listenerScope("10.0")), "listener.10.0. listener.0. envoy.listener_address=10");
  EXPECT_EQ(shown(listenerScope("/tmp/l3.sock")),
            "listener./tmp/l3.sock. listener.sock. envoy.listener_address=/tmp/l3");
}

TEST("a listener's worker is a label only where the listener's name is one") {
  EXPECT_EQ(shown(listenerWorkerScope("foo", 1)),
            "listener.foo.worker_1. listener.worker_ !envoy.worker_id=1 "
            "envoy.listener_address=foo");
  EXPECT_EQ(shown(listenerWorkerScope("my.pre", 0)),
            "listener.my.pre.worker_0. listener.pre.worker_0. envoy.listener_address=my");
}

TEST("a listener's HTTP has the prefix's label before the address") {
  EXPECT_EQ(shown(listenerHttpScope("my.pre", "in.x")),
            "listener.my.pre.http.in.x. listener.pre.http.x. "
            "envoy.http_conn_manager_prefix=in envoy.listener_address=my");
  EXPECT_EQ(shown(listenerAdminHttpScope()),
            "listener.admin.http.admin. listener.admin.http. "
            "envoy.http_conn_manager_prefix=admin");
}

TEST("a route configuration's name is one label") {
  EXPECT_EQ(shown(rdsScope("in", "r.1")),
            "http.in.rds.r.1. http.rds. envoy.rds_route_config=r.1 "
            "envoy.http_conn_manager_prefix=in");
}

TEST("colons of what is discovered do not get into the names of its statistics") {
  EXPECT_EQ(shown(rdsScope("in", "xdstp://a/b:/c:d")),
            "http.in.rds.xdstp_a/b_c_d. http.rds. envoy.rds_route_config=xdstp_a/b_c_d "
            "envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(vhdsScope("in", "a:b")),
            "http.in.rds.vhds.a_b. http.rds. envoy.rds_route_config=vhds.a_b "
            "envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(vhdsScope("", "a:b")), "vhds.a_b. vhds.a_b.");
  EXPECT_EQ(shown(scopedRdsScope("in", "a:b")),
            "http.in.scoped_rds.a_b. http.scoped_rds. envoy.scoped_rds_config=a_b "
            "envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(sdsScope("a://b.c")), "sds.a_b.c. sds.c. envoy.xds_resource_name=a_b");
  EXPECT_EQ(extensionDiscoveryScope("http_filter", "a:b").prefix,
            "extension_config_discovery.http_filter.a_b.");
}

TEST("a virtual cluster's name is a label only where the virtual host's name is one") {
  EXPECT_EQ(shown(virtualClusterScope("v", "k.l")),
            "vhost.v.vcluster.k.l. vhost.vcluster.l. envoy.virtual_cluster=k "
            "envoy.virtual_host=v");
  EXPECT_EQ(shown(virtualClusterScope("v.w", "k.l")),
            "vhost.v.w.vcluster.k.l. vhost.w.vcluster.k.l. envoy.virtual_host=v");
  EXPECT_EQ(shown(routeScope("v", "rs")),
            "vhost.v.route.rs. vhost.route. envoy.virtual_host=v envoy.route=rs");
}

TEST("parts and workers add to a scope's name") {
  EXPECT_EQ(shown(innerScope(clusterScope("be"), "outlier_detection.")),
            "cluster.be.outlier_detection. cluster.outlier_detection. envoy.cluster_name=be");
  EXPECT_EQ(shown(workerScope("server.", 3)), "server.worker_3. server.worker_ !envoy.worker_id=3");
  EXPECT_EQ(shown(tcpScope("t.t")), "tcp.t.t. tcp.t. envoy.tcp_prefix=t");
}

TEST("a control plane of routes is part of their configuration's label") {
  EXPECT_EQ(shown(controlPlaneScope(rdsScope("in", "rc"))),
            "http.in.rds.rc.control_plane. http.rds. envoy.rds_route_config=rc.control_plane "
            "envoy.http_conn_manager_prefix=in");
  EXPECT_EQ(shown(controlPlaneScope(clusterScope("one"))),
            "cluster.one.control_plane. cluster.control_plane. envoy.cluster_name=one");
  EXPECT_EQ(shown(controlPlaneScope(plainScope("cluster_manager.cds."))),
            "cluster_manager.cds.control_plane. cluster_manager.cds.control_plane.");
}

}  // namespace fairlead::stats
